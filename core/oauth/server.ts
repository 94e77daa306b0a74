import type { AuthorizationServer } from 'oauth4webapi';
import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import { OAuthConfigError } from './config-error.ts';

/** The token endpoint of a provider, and where it deviates from the standard. */
export interface TokenServer {
  /** Authorization server metadata (RFC 8414). */
  metadata: AuthorizationServer;
  tokenEndpoint: URL;
  requestFormat: 'form' | 'json';
  /** Sent with every token request; they never replace what the protocol itself sends. */
  extraParameters: Readonly<Record<string, string>>;
  /** What stands between scopes. */
  scopeSeparator: string;
}

/** What the protocol itself sends to a token endpoint. A pattern that overrode it could choose another grant or client. */
const PROTOCOL_PARAMETERS: ReadonlySet<string> = new Set([
  'assertion',
  'client_assertion',
  'client_assertion_type',
  'client_id',
  'client_secret',
  'code',
  'code_verifier',
  'grant_type',
  'redirect_uri',
  'refresh_token',
]);

/**
 * Reads what a pattern says about its provider's token endpoint.
 *
 * @param address fills the places of an address with the account's values
 * @returns metadata whose issuer is the pattern's, or the token endpoint where it names none: that is the audience which
 *   client assertions have by convention (RFC 7523 §3)
 * @throws OAuthConfigError when the pattern names no token endpoint, or none with https; and what `address` throws
 */
export function tokenServerOf(config: OAuthConfig, address: (template: string) => string): TokenServer {
  // Discovery by `issuer` belongs here: it would give the same record, from the metadata of the server.
  if (config.token_uri === undefined) throw new OAuthConfigError('The provider names no token endpoint.');
  const tokenEndpoint = endpoint(config.token_uri, address);
  if (tokenEndpoint.protocol !== 'https:') throw new OAuthConfigError('The token endpoint is no https address.');
  const issuer = config.issuer === undefined ? tokenEndpoint.href : address(config.issuer);
  const extra = Object.entries(config.extra_token_params ?? {}).filter(([name]) => !PROTOCOL_PARAMETERS.has(name));
  return {
    metadata: { issuer, token_endpoint: tokenEndpoint.href },
    tokenEndpoint,
    requestFormat: config.token_request_format ?? 'form',
    extraParameters: Object.fromEntries(extra),
    scopeSeparator: config.scope_separator ?? ' ',
  };
}

/** Filling an address takes the slash off its end, which base addresses do not have; some token endpoints insist on theirs. */
function endpoint(template: string, address: (template: string) => string): URL {
  const url = new URL(address(template));
  if (template.endsWith('/') && !url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}
