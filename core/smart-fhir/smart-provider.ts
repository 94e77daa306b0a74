import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { AccountInputs } from '../connectors/base-url.ts';
import { type OAuthProvider, oauthProviderOf } from '../oauth/provider.ts';
import type { SmartConfiguration } from './smart-configuration.ts';

/** What an authorization is about. */
export interface SmartTarget {
  /** The FHIR server that tokens are to be good for, exactly as it names itself. */
  fhirBase: string;
  /** Of a launch out of the record system: its handle for what the user had open there. */
  launch?: string;
}

/**
 * A FHIR server as a provider of OAuth: its own endpoints, the parameters that SMART adds to an authorization, and its rules for
 * codes and client assertions (SMART App Launch 2.2, "App Launch" and "Client Authentication: Asymmetric").
 *
 * `aud` names the FHIR server, so that a fake one cannot have tokens made for the real one. Client assertions are for the token
 * endpoint.
 */
export function smartProviderOf(
  pattern: AuthPattern,
  inputs: AccountInputs,
  { metadata }: SmartConfiguration,
  { fhirBase, launch }: SmartTarget,
): OAuthProvider {
  const provider = oauthProviderOf(pattern, inputs, { metadata });
  const { config } = provider;
  return {
    ...provider,
    config: {
      ...config,
      pkce: 'required',
      extra_authorize_params: {
        ...config.extra_authorize_params,
        aud: fhirBase,
        ...(launch !== undefined && { launch }),
      },
      token: { ...config.token, assertion_audience: metadata.token_endpoint },
    },
  };
}

/** The scopes to ask for: a launch out of the record system is asked for by a scope of its own. */
export function smartScopes(scopes: readonly string[], { launch }: Pick<SmartTarget, 'launch'>): string[] {
  return [...new Set(launch === undefined ? scopes : ['launch', ...scopes])];
}
