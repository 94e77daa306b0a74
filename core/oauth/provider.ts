import type { AuthorizationServer } from 'oauth4webapi';
import type { AccountInputs } from '../connectors/account-value.ts';
import { accountOrigin } from '../connectors/account-value.ts';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import { filled } from '../connectors/base-url.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { OAuthConfigError } from './config-error.ts';
import { fillText } from './fill.ts';

/** A provider's OAuth configuration for one account. */
export interface OAuthProvider {
  /** The configuration in the provider's authentication pattern, with addresses that it lacks from the metadata. */
  config: OAuthConfig;
  /** The provider's own metadata, if it was read. */
  metadata?: AuthorizationServer;
  /** The account values that are not secret. */
  inputs: AccountInputs;
  /** Fills the placeholders of an address with the inputs; throws an ApiError if one is missing or invalid. */
  address(template: string): string;
  /** The header for an access token. */
  tokenHeader: { name: string; scheme: string };
}

/** Data about a provider in addition to its pattern. */
export interface ProviderExtras {
  /**
   * The metadata of the authorization server, if it was read, for example because the pattern or an MCP server names an
   * issuer. It never replaces addresses of the pattern.
   */
  metadata?: AuthorizationServer;
  /** The resource that tokens are requested for (RFC 8707); for an MCP provider its address. */
  resource?: string;
}

/** Combines a pattern, the values of an account and the provider's metadata. */
export function oauthProviderOf(
  pattern: AuthPattern,
  inputs: AccountInputs,
  { metadata, resource }: ProviderExtras = {},
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

/** Returns the same provider with additional account values. */
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
 * Returns an address of a provider for one account.
 *
 * @param originFrom the name of the account value that contains the origin of the address. If it is omitted or the
 * account does not have this value, the origin of the template is used
 * @throws OAuthConfigError if the address is neither https nor local http, or the origin is not allowed for this
 * provider; the errors of `provider.address`
 */
export function endpointAt(
  provider: Pick<OAuthProvider, 'config' | 'address' | 'inputs'>,
  template: string,
  originFrom?: string,
): URL {
  const url = new URL(provider.address(template));
  // `address` removes a trailing slash, because base addresses must not have one. Some endpoints require it.
  if (template.endsWith('/') && !url.pathname.endsWith('/')) url.pathname += '/';
  if (!isSecureAddress(url))
    throw new OAuthConfigError(`The endpoint of the provider at ${url.host} must be an https URL.`);
  if (originFrom === undefined || !Object.hasOwn(provider.inputs, originFrom)) return url;
  const origin = accountOrigin(provider.config, originFrom, provider.inputs);
  if (origin === undefined) {
    throw new OAuthConfigError(`The account's ${originFrom} does not have one of the allowed origins.`, {
      faultyPart: 'account',
    });
  }
  const own = new URL(origin);
  url.protocol = own.protocol;
  url.hostname = own.hostname;
  url.port = own.port;
  return url;
}

/** Returns the issuer of a provider exactly as written, because it must not be normalized (RFC 9207 §2.4). */
export function issuerOf({ config, metadata, address }: OAuthProvider): string | undefined {
  if (metadata !== undefined || config.issuer === undefined) return metadata?.issuer;
  const issuer = address(config.issuer);
  return config.issuer.endsWith('/') && !issuer.endsWith('/') ? `${issuer}/` : issuer;
}

/**
 * Returns the audience (`aud` claim) of JWT assertions that authenticate the client: `assertion_audience` of the
 * connector file, otherwise the provider's issuer (RFC 10070), otherwise the URL of the endpoint (RFC 7523 §3).
 *
 * @param endpoint the endpoint that the assertion is sent to
 */
export function assertionAudienceOf(provider: OAuthProvider, endpoint: URL): string {
  const own = provider.config.token?.assertion_audience;
  return own === undefined ? (issuerOf(provider) ?? endpoint.href) : fillText(own, provider.inputs);
}
