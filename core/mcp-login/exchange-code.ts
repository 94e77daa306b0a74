import { createHash } from 'node:crypto';
import type { EnvironmentRow, OAuthGrantRow, OAuthLoginRow, Repositories, Transaction } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { Cause } from '../events/events.ts';
import { findServer } from '../mcp/server-definition.ts';
import { type TokenError, tokenError } from '../tokens/token-error.ts';
import type { Digester } from '../vault/digest.ts';
import { createGrant, endGrant, type GrantDeps } from './grants.ts';
import { mayIdentifyUsers } from './login-provider.ts';
import { isToken, loginTokenDigest } from './login-tokens.ts';
import { serverOfResource } from './resource.ts';
import type { Form } from './token-parameters.ts';

export interface ExchangeDeps extends GrantDeps {
  digester: Digester;
}

export type Exchanged = { ok: true; grant: OAuthGrantRow; refreshes: boolean } | { ok: false; error: TokenError };

const INVALID = tokenError(
  'invalid_grant',
  'The code is invalid, expired or already used, or belongs to another client',
);
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Exchanges an authorization code for a grant (OAuth 2.1 §4.1.3). A code can be used only once, even if the exchange
 * fails. A second use means that two parties have the code, so the grant of the first use ends.
 *
 * The caller must commit the transaction even if the result is an error, because the code may have been spent or the
 * grant ended.
 *
 * @param clientId the id of the authenticated client
 */
export async function exchangeCode(
  tx: Transaction,
  deps: ExchangeDeps,
  environment: EnvironmentRow,
  clientId: string,
  form: Form,
  cause: Cause,
): Promise<Exchanged> {
  const { code } = form;
  const { id: environmentId } = environment;
  if (code === undefined) return refused(tokenError('invalid_request', 'The parameter code is missing'));
  if (!isToken(code)) return refused(INVALID);
  const login = await tx.oauthLogins.byToken(environmentId, loginTokenDigest(deps.digester, 'code', code));
  if (!login) return refused(INVALID);
  if (login.state === 'SPENT') {
    const grant = login.grantId === null ? undefined : await tx.oauthGrants.get(environmentId, login.grantId);
    if (grant) await endGrant(tx, deps, grant, 'CODE_REUSED', cause);
    return refused(INVALID);
  }
  const { request, subject } = login;
  const error = await problemOf(tx, deps, environment, login, clientId, form);
  const isTrusted = subject !== null && (await mayIdentifyUsers(tx, environmentId, subject.identifiedBy, deps.now()));
  if (error || !subject || !isTrusted) {
    await spend(tx, deps, login, null);
    return refused(error ?? INVALID);
  }
  const grant = await createGrant(tx, deps, login, subject, cause);
  if (!(await spend(tx, deps, login, grant.id))) throw new Error('a code was exchanged twice in one transaction');
  if (request.clientKind !== 'DOCUMENT') await tx.oauthClients.touch(environmentId, clientId, deps.now());
  return { ok: true, grant, refreshes: request.refreshes };
}

async function problemOf(
  tx: Repositories,
  { digester, now }: ExchangeDeps,
  environment: EnvironmentRow,
  { state, expiresAt, request }: OAuthLoginRow,
  clientId: string,
  { redirect_uri: redirectUri, code_verifier: verifier, resource }: Form,
): Promise<TokenError | undefined> {
  if (state !== 'CODE' || expiresAt <= now() || request.clientId !== clientId) return INVALID;
  if (redirectUri !== undefined && redirectUri !== request.redirectUri)
    return tokenError('invalid_grant', 'The redirect_uri differs from the one in the authorization request');
  if (verifier === undefined || !VERIFIER.test(verifier) || !provesChallenge(digester, verifier, request.codeChallenge))
    return tokenError('invalid_grant', 'The code_verifier does not match the code_challenge');
  // If the request names no resource, only the existence of the server is checked.
  const server =
    resource === undefined
      ? await findServer(tx, environment.id, request.serverId)
      : await serverOfResource(tx, environment, resource);
  if (server?.id !== request.serverId)
    return tokenError('invalid_target', 'The resource differs from the one in the authorization request');
  return undefined;
}

/** Checks a PKCE verifier (RFC 7636 §4.6) in constant time. */
function provesChallenge(digester: Digester, verifier: string, challenge: string): boolean {
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return digester.equal(digester.digest('code challenge', computed), digester.digest('code challenge', challenge));
}

function spend(
  tx: Repositories,
  { now }: ExchangeDeps,
  login: OAuthLoginRow,
  grantId: string | null,
): Promise<boolean> {
  const at = now();
  const next = { ...login, state: 'SPENT' as const, grantId, expiresAt: at + MCP_LOGIN.spentMs };
  return tx.oauthLogins.advance(login.environmentId, { ...login, now: at }, next);
}

function refused(error: TokenError): Exchanged {
  return { ok: false, error };
}
