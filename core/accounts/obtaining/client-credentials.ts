import { clientFor, clientOf } from '../../connections/client.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { ClientCredentials } from '../../oauth/client-auth.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import { clientCredentialsGrant } from '../../oauth/grants/client-credentials.ts';
import { tokenServerAt } from '../../oauth/server.ts';
import { Secret } from '../../secret.ts';
import type { Details } from '../authorization-details.ts';
import { formOf, publicPart, staticFieldsIn } from '../details.ts';
import type { TokenContext, TokenRequest } from './request.ts';

/** Builds the token request of the client credentials grant (RFC 6749 §4.4). */
export async function clientCredentialsRequest(tokenContext: TokenContext): Promise<TokenRequest> {
  const { account, connection, pattern, given, vault } = tokenContext;
  const inputs = accountInputs(pattern, account.apiConfig, staticFieldsIn(publicPart(given, account.binding.fields)));
  const { oauth, namingOrigin } = await tokenContext.discoverProvider(inputs);
  const destination = { origin: tokenServerAt(oauth).tokenEndpoint.origin, namingOrigin };
  tokenContext.requireDestination(destination);
  const isEntered = formOf(given) === 'static_auth';
  const client = isEntered
    ? enteredClient(given, pattern)
    : clientOf(vault, { ...tokenContext, connection: await tokenContext.secured(oauth) });
  const scopes = requestedScopes(connection, pattern);
  return {
    ...destination,
    async send(fetch, now) {
      const outcome = await clientCredentialsGrant({ provider: oauth, client, scopes, fetchFor: () => fetch, now });
      // If the client was entered for the account, the account is faulty, not the connection.
      if (!outcome.ok) return outcome.kind === 'client' && isEntered ? { ...outcome, faultyPart: 'account' } : outcome;
      const { accessToken, scopes: granted, expiresAt } = outcome.tokens;
      // If the response does not name the granted scopes, the requested scopes were granted (RFC 6749 §5.1).
      const token = { access_token: accessToken.reveal(), scopes: granted ?? scopes };
      const store = (details: Details) => ({ given: details, temporary: { oauth_token: token } });
      return { ok: true, obtained: { expiresAt, store, tokens: null } };
    },
  };
}

/**
 * Returns the OAuth client that was entered for one account. Unless the pattern has a `client_auth_method`, a client
 * with a `private_key` authenticates with that key, and any other client with its secret.
 *
 * @throws OAuthConfigError if the id is missing or the key is invalid
 */
export function enteredClient(given: Details, pattern: Pick<AuthPattern, 'type' | 'oauth_config'>): ClientCredentials {
  const { client_id: clientId, client_secret: secret, private_key: key } = staticFieldsIn(given);
  if (typeof clientId !== 'string' || clientId === '') {
    throw new OAuthConfigError('The account has no client_id among its credentials.', { faultyPart: 'account' });
  }
  const usual = isText(key) ? 'private_key_jwt' : 'client_secret_basic';
  const method = pattern.oauth_config?.client_auth_method ?? usual;
  const text = method === 'private_key_jwt' && isText(key) ? key : secret;
  const client = { clientId, method, secret: isText(text) ? new Secret(text) : null, owner: 'account' as const };
  try {
    return clientFor(pattern, client);
  } catch (error) {
    if (!(error instanceof OAuthConfigError)) throw error;
    throw new OAuthConfigError(error.message, { faultyPart: 'account', cause: error });
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
