import { requireTerms } from '../../connections/client.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import { oauthProviderOf } from '../../oauth/provider.ts';
import { tokenServerAt } from '../../oauth/server.ts';
import { assumeRole } from '../../trusted-idp/assume-role.ts';
import { identitySubject } from '../../trusted-idp/identity-token.ts';
import { toTemporaryDetails } from '../../trusted-idp/temporary-credentials.ts';
import type { Details } from '../authorization-details.ts';
import type { TokenContext, TokenRequest } from './request.ts';

/** The default session duration of a role, in seconds. A role's maximum cannot be set below it. */
const DURATION_S = 3600;

/**
 * Builds the request for temporary credentials of a cloud role that trusts the identity tokens of this environment. The
 * audience is the client id registered at the cloud: the connection's, or the connector's default.
 */
export function webIdentityRequest(tokenContext: TokenContext): TokenRequest {
  const { account, connection, pattern, issuer, signer } = tokenContext;
  const { tokenEndpoint } = tokenServerAt(oauthProviderOf(pattern, accountInputs(pattern, account.apiConfig)));
  tokenContext.requireDestination({ origin: tokenEndpoint.origin });
  requireTerms(tokenContext);
  const { role_arn: roleArn } = account.apiConfig;
  if (typeof roleArn !== 'string')
    throw new OAuthConfigError('The account has no role_arn in api_config.', { faultyPart: 'account' });
  const audience = connection.clientId || pattern.oauth_config?.identity_audience;
  if (!audience)
    throw new OAuthConfigError('The connection has no client_id, which is the audience of its identity tokens.');
  const identity = { issuer, audience, subject: identitySubject(account) };
  return {
    origin: tokenEndpoint.origin,
    async send(fetch, now) {
      const outcome = await assumeRole({
        endpoint: tokenEndpoint,
        roleArn,
        sessionName: account.id,
        durationS: DURATION_S,
        identity,
        sign: signer.sign,
        random: signer.random,
        fetch,
        now,
      });
      if (!outcome.ok) return outcome;
      const { credentials } = outcome;
      const store = (details: Details) => ({
        given: details,
        temporary: { trusted_idp: { ...toTemporaryDetails(credentials) } },
      });
      return { ok: true, obtained: { expiresAt: credentials.expiresAt, store, tokens: null } };
    },
  };
}
