import type { AuthorizationServer } from 'oauth4webapi';
import type { AccountInputs } from '../connectors/account-inputs.ts';
import { accountOrigin } from '../connectors/account-value.ts';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import { filled } from '../connectors/base-url.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { OAuthConfigError } from './config-error.ts';
import { fillText } from './fill.ts';

/** A provider's OAuth as one account meets it. */
export interface OAuthProvider {
  /** What the pattern says, and for addresses that it leaves out what the provider's metadata say. */
  config: OAuthConfig;
  /** What the provider says of itself, where it was asked. */
  metadata?: AuthorizationServer;
  /** The values of the account that are not secret. */
  inputs: AccountInputs;
  /** Fills the places of an address with them; throws an ApiError when one is missing or does not fit. */
  address(template: string): string;
  /** How calls carry an access token. */
  tokenHeader: { name: string; scheme: string };
}

/** What is known of a provider beyond its pattern. */
export interface KnownOfProvider {
  /** From `Discovery`, where the pattern names an issuer or an MCP server names one; it never replaces what the pattern says. */
  metadata?: AuthorizationServer;
  /** What tokens are to be good for (RFC 8707); of an MCP provider its address. */
  resource?: string;
}

/** Puts together what a pattern, an account and the provider's metadata say. */
export function oauthProviderOf(
  pattern: AuthPattern,
  inputs: AccountInputs,
  { metadata, resource }: KnownOfProvider = {},
): OAuthProvider {
  const config = { ...pattern.oauth_config, ...(resource !== undefined && { resource }) };
  return {
    config: metadata === undefined ? config : completed(config, metadata),
    metadata,
    inputs,
    address: (template) => filled(template, inputs),
    tokenHeader: {
      name: pattern.auth_header_key_override ?? 'Authorization',
      scheme: pattern.auth_scheme ?? 'Bearer',
    },
  };
}

/** The same provider for an account of which more is known by now. */
export function withInputs(provider: OAuthProvider, more: AccountInputs): OAuthProvider {
  const inputs = { ...provider.inputs, ...more };
  return { ...provider, inputs, address: (template) => filled(template, inputs) };
}

function completed(config: OAuthConfig, metadata: AuthorizationServer): OAuthConfig {
  return {
    ...config,
    authorize_uri: config.authorize_uri ?? metadata.authorization_endpoint,
    token_uri: config.token_uri ?? metadata.token_endpoint,
    revocation_uri: config.revocation_uri ?? metadata.revocation_endpoint,
    user_info_uri: config.user_info_uri ?? metadata.userinfo_endpoint,
  };
}

/**
 * An address of a provider for one account.
 *
 * @param originFrom the account value that holds the origin, where accounts differ in it; without such a value, the template's own
 * @throws OAuthConfigError when it is not a secure address; and what `provider.address` throws
 */
export function endpointAt(
  provider: Pick<OAuthProvider, 'config' | 'address' | 'inputs'>,
  template: string,
  originFrom?: string,
): URL {
  const url = new URL(provider.address(template));
  // Filling an address takes the slash off its end, which base addresses do not have; some endpoints insist on theirs.
  if (template.endsWith('/') && !url.pathname.endsWith('/')) url.pathname += '/';
  if (!isSecureAddress(url)) throw new OAuthConfigError('An endpoint of the provider must be an https URL.');
  if (originFrom === undefined || !Object.hasOwn(provider.inputs, originFrom)) return url;
  const origin = accountOrigin(provider.config, originFrom, provider.inputs);
  if (origin === undefined) {
    throw new OAuthConfigError(`The account's ${originFrom} is not an address of this provider.`, {
      culprit: 'account',
    });
  }
  const own = new URL(origin);
  url.protocol = own.protocol;
  url.hostname = own.hostname;
  url.port = own.port;
  return url;
}

/** The issuer of a provider, exactly as it is written: nothing about it may be normalised (RFC 9207 §2.4). */
export function issuerOf({ config, metadata, address }: OAuthProvider): string | undefined {
  if (metadata !== undefined || config.issuer === undefined) return metadata?.issuer;
  const issuer = address(config.issuer);
  return config.issuer.endsWith('/') && !issuer.endsWith('/') ? `${issuer}/` : issuer;
}

/**
 * The audience of signed assertions of the client: the provider's issuer (RFC 10070), or the endpoint that they are sent to where
 * no issuer is known, as is the convention (RFC 7523 §3); or what the connector file says.
 */
export function assertionAudienceOf(provider: OAuthProvider, endpoint: URL): string {
  const own = provider.config.token?.assertion_audience;
  return own === undefined ? (issuerOf(provider) ?? endpoint.href) : fillText(own, provider.inputs);
}
