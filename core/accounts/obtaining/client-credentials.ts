import { clientOf } from '../../connections/client.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import { accountInputs } from '../../connectors/base-url.ts';
import type { ClientCredentials } from '../../oauth/client-auth.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import { clientCredentialsGrant } from '../../oauth/grants/client-credentials.ts';
import { oauthProviderOf } from '../../oauth/provider.ts';
import { tokenServerAt } from '../../oauth/server.ts';
import { Secret } from '../../secret.ts';
import { type Details, formOf, staticFieldsIn } from '../details.ts';
import type { Setting, TokenRequest } from './request.ts';

/** The request of a machine client for a token of its own (RFC 6749 §4.4). */
export function clientCredentialsRequest(setting: Setting): TokenRequest {
  const { account, connection, pattern, given, vault } = setting;
  const inputs = accountInputs(pattern, account.apiConfig, staticFieldsIn(given));
  const provider = oauthProviderOf(pattern, inputs);
  const isTyped = formOf(given) === 'static_auth';
  const client = isTyped ? typedClient(given, pattern) : clientOf(vault, connection, pattern);
  const scopes = requestedScopes(connection, pattern);
  return {
    origin: tokenServerAt(provider).tokenEndpoint.origin,
    async send(fetch, now) {
      const outcome = await clientCredentialsGrant({ provider, client, scopes, fetchFor: () => fetch, now });
      if (!outcome.ok) return outcome;
      const { accessToken, scopes: granted, expiresAt } = outcome.tokens;
      // Where the provider does not say what it granted, it is what was asked for (RFC 6749 §5.1).
      const token = { access_token: accessToken.reveal(), scopes: granted ?? scopes };
      const store = (details: Details) => ({ given: details, temporary: { oauth_token: token } });
      return { ok: true, obtained: { expiresAt, store, tokens: null } };
    },
  };
}

/**
 * The client that was typed for the account alone, by the usual names of the fields.
 *
 * @throws OAuthConfigError when it has no id
 */
export function typedClient(given: Details, pattern: Pick<AuthPattern, 'oauth_config'>): ClientCredentials {
  const { client_id: clientId, client_secret: secret } = staticFieldsIn(given);
  if (typeof clientId !== 'string' || clientId === '') throw new OAuthConfigError('The account has no client id.');
  return {
    clientId,
    method: pattern.oauth_config?.client_auth_method ?? 'client_secret_basic',
    secret: typeof secret === 'string' && secret !== '' ? new Secret(secret) : null,
  };
}
