import type { AuthorizationServer } from 'oauth4webapi';
import { OAuthConfigError } from './config-error.ts';
import { fillText, fillTexts } from './fill.ts';
import { endpointAt, issuerOf, type OAuthProvider } from './provider.ts';

/** The authorization endpoint of a provider, and where it deviates from the standard. */
export interface AuthorizationEndpoint {
  /** The address of the consent page. It may already contain query parameters, which are kept. */
  url: URL;
  /** null if unknown; then the value of the `iss` parameter in a callback is not checked. */
  issuer: string | null;
  /** Whether the provider's metadata says that every response contains `iss` (RFC 9207). */
  issuerIsSent: boolean;
  pkce: 'required' | 'supported' | 'none';
  /** The endpoint for pushed authorization requests (RFC 9126); null if they are not used. */
  pushedTo: URL | null;
  /** The resource that tokens are requested for (RFC 8707). */
  resource: string | null;
  scopeSeparator: string;
  /** Additional parameters. They cannot replace a parameter of the protocol, unless `omit` contains it. */
  parameters: Readonly<Record<string, string>>;
  /** For providers with several scope parameters: by parameter, the prefix of the scopes that it contains. */
  scopePrefixes: Readonly<Record<string, string>>;
  names: Readonly<Record<string, string>>;
  omit: ReadonlySet<string>;
  /** The names of `code` and `state` in the callback. */
  callbackNames: Readonly<Record<string, string>>;
}

const PROTOCOL_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'resource',
  'response_type',
  'scope',
  'state',
]);

/**
 * Returns the authorization endpoint of a provider.
 *
 * @throws OAuthConfigError if there is no authorization endpoint, or it requires an unsupported feature; the errors of
 * `provider.address`
 */
export function authorizationEndpointOf(provider: OAuthProvider): AuthorizationEndpoint {
  const { config, metadata, inputs } = provider;
  const { authorization = {} } = config;
  if (config.authorize_uri === undefined)
    throw new OAuthConfigError('The oauth_config of the provider has no authorize_uri.');
  if (metadata?.require_signed_request_object === true) {
    throw new OAuthConfigError('The provider requires signed authorization requests, which are not supported.');
  }
  const omit = new Set(authorization.omit);
  const extra = Object.entries(fillTexts(config.extra_authorize_params, inputs));
  return {
    url: endpointAt(provider, config.authorize_uri),
    issuer: issuerOf(provider) ?? null,
    issuerIsSent: metadata?.authorization_response_iss_parameter_supported === true,
    pkce: pkceOf(config.pkce ?? 'required', metadata),
    pushedTo: pushedTo(provider),
    resource: config.resource === undefined ? null : fillText(config.resource, inputs),
    scopeSeparator: config.scope_separator ?? ' ',
    parameters: Object.fromEntries(extra.filter(([name]) => !PROTOCOL_PARAMETERS.has(name) || omit.has(name))),
    scopePrefixes: authorization.scope_parameters ?? {},
    names: authorization.names ?? {},
    omit,
    callbackNames: authorization.callback_names ?? {},
  };
}

/** Only S256 is used, because `plain` exposes the verifier in the authorization request (RFC 9700 §2.1.1). */
function pkceOf(policy: AuthorizationEndpoint['pkce'], metadata: AuthorizationServer | undefined) {
  const methods = metadata?.code_challenge_methods_supported;
  if (methods === undefined || methods.includes('S256')) return policy;
  if (policy !== 'required') return 'none';
  throw new OAuthConfigError('The provider does not support PKCE with S256, which its connector requires.');
}

function pushedTo(provider: OAuthProvider): URL | null {
  const { config, metadata } = provider;
  const own = config.authorization?.pushed_uri;
  if (own !== undefined) return endpointAt(provider, own);
  const discovered = metadata?.pushed_authorization_request_endpoint;
  if (metadata?.require_pushed_authorization_requests !== true) return null;
  if (discovered === undefined)
    throw new OAuthConfigError('The provider requires pushed authorization requests but has no endpoint for them.');
  return endpointAt(provider, discovered);
}
