import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { type OAuthProvider, oauthProviderOf } from '../oauth/provider.ts';
import type { SmartConfiguration } from './smart-configuration.ts';

/**
 * Returns the OAuth configuration of a FHIR server: the endpoints of the server, and the additional parameter and the
 * rules of SMART for PKCE and client assertions (SMART App Launch 2.2, "App Launch" and "Client Authentication:
 * Asymmetric").
 *
 * The parameter `aud` names the FHIR server, so that a fake server cannot get tokens for the real one. The audience of
 * client assertions is the token endpoint.
 *
 * @param fhirBase the base URL of the FHIR server that tokens are requested for; sent unchanged as `aud`
 */
export function smartProviderOf(
  pattern: AuthPattern,
  inputs: AccountInputs,
  { metadata }: SmartConfiguration,
  fhirBase: string,
): OAuthProvider {
  const provider = oauthProviderOf(pattern, inputs, { metadata });
  const { config } = provider;
  return {
    ...provider,
    config: {
      ...config,
      pkce: 'required',
      extra_authorize_params: { ...config.extra_authorize_params, aud: fhirBase },
      token: { ...config.token, assertion_audience: metadata.token_endpoint },
    },
  };
}
