import { clientSecretOf } from '../../connections/client.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import { tokenServerAt } from '../../oauth/server.ts';
import { requestDelegatedToken } from '../../workspace-dwd/request-token.ts';
import { readServiceAccount } from '../../workspace-dwd/service-account.ts';
import type { Details } from '../authorization-details.ts';
import type { TokenContext, TokenRequest } from './request.ts';

/**
 * Builds the request for a token with which a service account acts for the subject (a user) of the account (RFC 7523).
 * The key of the service account is stored as the connection's client secret.
 */
export async function delegationRequest(tokenContext: TokenContext): Promise<TokenRequest> {
  const { account, connection, pattern, given, vault } = tokenContext;
  const { oauth, namingOrigin } = await tokenContext.discoverProvider(accountInputs(pattern, account.apiConfig));
  const { tokenEndpoint } = tokenServerAt(oauth);
  const destination = { origin: tokenEndpoint.origin, namingOrigin };
  tokenContext.requireDestination(destination);
  const key = clientSecretOf(vault, { ...tokenContext, connection: await tokenContext.secured(oauth) });
  if (key === null) throw new OAuthConfigError('The connection has no service account key in client_secret.');
  const subject = given.workspace_dwd?.['subject'];
  const delegation = {
    account: readServiceAccount(key),
    subject: typeof subject === 'string' ? subject : '',
    scopes: requestedScopes(connection, pattern),
    audience: tokenEndpoint.href,
  };
  return {
    ...destination,
    async send(fetch, now) {
      const outcome = await requestDelegatedToken({ ...delegation, tokenEndpoint, fetch, now });
      if (!outcome.ok) return outcome;
      const { accessToken, scopes, expiresAt } = outcome.token;
      const token = {
        access_token: accessToken.reveal(),
        scopes,
        ...(expiresAt !== null && { token_expires_at: new Date(expiresAt).toISOString() }),
      };
      const store = (details: Details) => ({ given: details, temporary: { workspace_dwd: token } });
      return { ok: true, obtained: { expiresAt, store, tokens: null } };
    },
  };
}
