import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import { filled } from '../connectors/base-url.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { fillTexts } from '../oauth/fill.ts';
import { scopeParameter } from '../oauth/scopes.ts';
import type { OAuth1Provider } from './authorization.ts';
import type { FragmentFlow } from './fragment-flow.ts';
import type { SigningRules } from './sign-request.ts';

/**
 * `signed`: the three steps of OAuth 1.0a. `fragment`: a token in the fragment of the return address, and unsigned
 * calls.
 */
export type OAuth1Variant = 'signed' | 'fragment';

/**
 * Returns how users grant access with a pattern; undefined if the pattern lacks the addresses or the `return_parameter`
 * that a variant needs.
 */
export function oauth1VariantOf({ oauth_config: config = {} }: AuthPattern): OAuth1Variant | undefined {
  if (config.authorize_uri === undefined) return undefined;
  if (config.request_token_uri !== undefined && config.token_uri !== undefined) return 'signed';
  return config.return_parameter === undefined ? undefined : 'fragment';
}

/**
 * Returns the OAuth 1.0a configuration of a provider for one account.
 *
 * @throws OAuthConfigError for a missing or insecure endpoint; ApiError for a missing account value
 */
export function oauth1ProviderOf(
  pattern: AuthPattern,
  inputs: AccountInputs,
  scopes: readonly string[],
): OAuth1Provider {
  const config = pattern.oauth_config ?? {};
  return {
    temporaryEndpoint: endpoint(config, 'request_token_uri', inputs),
    authorizeEndpoint: endpoint(config, 'authorize_uri', inputs),
    tokenEndpoint: endpoint(config, 'token_uri', inputs),
    rules: signingRulesOf(config),
    authorizeParameters: authorizeParameters(config, inputs, scopes),
  };
}

/** Returns the configuration for the flow that returns a token in a fragment. */
export function fragmentFlowOf(pattern: AuthPattern, inputs: AccountInputs, scopes: readonly string[]): FragmentFlow {
  const config = pattern.oauth_config ?? {};
  return {
    authorizeEndpoint: endpoint(config, 'authorize_uri', inputs),
    keyParameter: config.key_parameter ?? 'key',
    returnParameter: config.return_parameter ?? 'return_url',
    authorizeParameters: authorizeParameters(config, inputs, scopes),
  };
}

/** Returns how a provider's requests are signed; by default HMAC-SHA1 in the header. */
export function signingRulesOf(config: OAuthConfig): SigningRules {
  const { signature_method: signatureMethod = 'HMAC-SHA1', signature_placement: placement = 'header', realm } = config;
  return { signatureMethod, placement, ...(realm !== undefined && { realm }) };
}

function authorizeParameters(config: OAuthConfig, inputs: AccountInputs, scopes: readonly string[]) {
  return {
    ...fillTexts(config.extra_authorize_params, inputs),
    ...scopeParameter(scopes, config.scope_separator ?? ' '),
  };
}

function endpoint(
  config: OAuthConfig,
  name: 'request_token_uri' | 'authorize_uri' | 'token_uri',
  inputs: AccountInputs,
): URL {
  const template = config[name];
  if (template === undefined) throw new OAuthConfigError(`The oauth_config of the provider has no ${name}.`);
  const url = new URL(filled(template, inputs));
  if (!isSecureAddress(url))
    throw new OAuthConfigError(`The ${name} of the provider, at ${url.host}, must be an https URL.`);
  return url;
}
