import type { AuthorizationServer } from 'oauth4webapi';
import type { BasicStyle, HttpCall } from '../connectors/oauth-deviations.ts';
import { OAuthConfigError } from './config-error.ts';
import { fillText, fillTexts } from './fill.ts';
import { assertionAudienceOf, endpointAt, type OAuthProvider } from './provider.ts';
import type { ResponseShape } from './token-shape.ts';

/** The token endpoint of a provider, and where it deviates from the standard. */
export interface TokenServer {
  /** Authorization server metadata (RFC 8414). */
  metadata: AuthorizationServer;
  tokenEndpoint: URL;
  requestFormat: 'form' | 'json';
  /** Sent with every token request; they never replace parameters of the protocol. */
  extraParameters: Readonly<Record<string, string>>;
  /** The separator between scopes. */
  scopeSeparator: string;
  wire: TokenWire;
  answer: ResponseShape;
  refresh: RefreshRequests;
}

/** Deviations in the format of token requests. */
export interface TokenWire {
  headers: Readonly<Record<string, string>>;
  /** The provider's names for parameters, by standard name. `omit` lists standard parameters that are not sent. */
  names: Readonly<Record<string, string>>;
  omit: ReadonlySet<string>;
  /** The provider's names for grant types, by standard name. */
  grantTypes: Readonly<Record<string, string>>;
  basic?: BasicStyle;
}

export interface RefreshRequests {
  endpoint: URL;
  parameters: Readonly<Record<string, string>>;
  withScopes: boolean;
  /** A call that replaces the standard request. */
  call?: { provider: OAuthProvider; recipe: HttpCall };
}

/**
 * Parameters that the protocol sends to a token endpoint. The configuration of a provider must not override them,
 * because other values could choose another grant or client.
 */
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
 * Returns the token endpoint of a provider.
 *
 * @returns the endpoint; `metadata.issuer` is the audience of client assertions
 * @throws OAuthConfigError if the token endpoint is missing or insecure, or if an account value is missing or not
 * allowed; the errors of `provider.address`
 */
export function tokenServerAt(provider: OAuthProvider): TokenServer {
  const { config, inputs } = provider;
  const { token = {}, refresh = {} } = config;
  if (config.token_uri === undefined) throw new OAuthConfigError('The oauth_config of the provider has no token_uri.');
  const tokenEndpoint = endpointAt(provider, config.token_uri, token.origin_from);
  const resource: Record<string, string> =
    config.resource === undefined ? {} : { resource: fillText(config.resource, inputs) };
  const extra = { ...ownParameters(fillTexts(config.extra_token_params, inputs)), ...resource };
  return {
    metadata: { issuer: assertionAudienceOf(provider, tokenEndpoint), token_endpoint: tokenEndpoint.href },
    tokenEndpoint,
    requestFormat: config.token_request_format ?? 'form',
    extraParameters: extra,
    scopeSeparator: config.scope_separator ?? ' ',
    wire: {
      headers: fillTexts(token.headers, inputs),
      names: token.names ?? {},
      omit: new Set(token.omit),
      grantTypes: token.grant_types ?? {},
      basic: token.basic,
    },
    answer: { ...token.answer, renewedByAccessToken: refresh.kind === 'access_token' },
    refresh: {
      endpoint: refresh.uri === undefined ? tokenEndpoint : endpointAt(provider, refresh.uri, token.origin_from),
      parameters: ownParameters(fillTexts(refresh.parameters, inputs)),
      withScopes: refresh.with_scopes ?? false,
      ...(refresh.call && { call: { provider, recipe: refresh.call } }),
    },
  };
}

function ownParameters(parameters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !PROTOCOL_PARAMETERS.has(name)));
}
