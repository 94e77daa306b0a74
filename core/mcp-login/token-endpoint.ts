import type { EnvironmentRow, OAuthGrantRow, Store } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { Cause } from '../events/events.ts';
import { type TokenError, tokenError } from '../tokens/token-error.ts';
import { authenticateClient } from './authenticate-client.ts';
import { type ExchangeDeps, exchangeCode } from './exchange-code.ts';
import { mintAccessToken, mintRefreshToken, openAccessToken, openRefreshToken } from './grant-tokens.ts';
import { endGrant } from './grants.ts';
import { isToken, loginTokenDigest } from './login-tokens.ts';
import { type RefreshDeps, refreshGrant } from './refresh-grant.ts';
import { type Form, failed, readClient, readForm } from './token-parameters.ts';

export interface TokenEndpointDeps extends ExchangeDeps, RefreshDeps {
  store: Store;
}

/** A form that was sent to the token or the revocation endpoint. */
export interface SentForm {
  authorizationHeader: string | undefined;
  form: Readonly<Record<string, unknown>>;
}

/** The body of a token response (RFC 6749 §5.1). */
export interface IssuedToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
  refresh_token?: string;
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: TokenError };

const UNKNOWN = tokenError(
  'invalid_grant',
  'The code or refresh token is invalid, expired or already used, or belongs to another client',
);

/**
 * The actor in the audit log for the events of the token and revocation endpoints. The grant in the event names the
 * client.
 */
const ACTOR = 'mcp_client';

/**
 * Handles a token request: exchanges an authorization code or uses a refresh token (RFC 6749 §4.1.3 and §6).
 *
 * @returns the body of the response, or the error
 */
export async function issueGrantToken(
  deps: TokenEndpointDeps,
  environment: EnvironmentRow,
  sent: SentForm,
  requestId: string,
): Promise<Outcome<IssuedToken>> {
  const request = await readRequest(deps, environment, sent, requestId);
  if (!request.ok) return request;
  const { clientId, form, cause } = request.value;
  if (await isUnknown(deps, environment, form)) return failed(UNKNOWN);
  return deps.store.write(async (tx) => {
    if (form['grant_type'] === 'refresh_token') {
      const refreshed = await refreshGrant(tx, deps, environment, clientId, form, cause);
      return refreshed.ok ? issued(deps, refreshed.grant, refreshed.scopes, true) : refreshed;
    }
    const exchanged = await exchangeCode(tx, deps, environment, clientId, form, cause);
    return exchanged.ok ? issued(deps, exchanged.grant, exchanged.grant.scopes, exchanged.refreshes) : exchanged;
  });
}

/**
 * Ends the grant that a token belongs to (RFC 7009 §2.1). An unknown or expired token, or a token of another client,
 * changes nothing.
 */
export async function revokeToken(
  deps: TokenEndpointDeps,
  environment: EnvironmentRow,
  sent: SentForm,
  requestId: string,
): Promise<Outcome<undefined>> {
  const request = await readRequest(deps, environment, sent, requestId);
  if (!request.ok) return request;
  const { clientId, form, cause } = request.value;
  const { token } = form;
  if (token === undefined) return failed(tokenError('invalid_request', 'The parameter token is missing'));
  const { sealedData, store } = deps;
  const payload =
    openRefreshToken(sealedData, environment.id, token) ?? openAccessToken(sealedData, environment.id, token);
  if (payload) {
    await store.write(async (tx) => {
      const grant = await tx.oauthGrants.get(environment.id, payload.grantId);
      if (grant?.clientId === clientId) await endGrant(tx, deps, grant, 'REVOKED_BY_CLIENT', cause);
    });
  }
  return { ok: true, value: undefined };
}

/**
 * Whether the request's code is unknown or its refresh token is invalid. Anyone can send such requests, so they are
 * rejected before a transaction begins. A missing parameter is rejected later.
 */
async function isUnknown(
  { sealedData, store, digester }: TokenEndpointDeps,
  { id }: EnvironmentRow,
  { grant_type: grantType, refresh_token: refreshToken, code }: Form,
): Promise<boolean> {
  if (grantType === 'refresh_token') {
    return refreshToken !== undefined && openRefreshToken(sealedData, id, refreshToken) === null;
  }
  if (code === undefined) return false;
  return !isToken(code) || !(await store.read.oauthLogins.byToken(id, loginTokenDigest(digester, 'code', code)));
}

/** Reads a form and authenticates its client. */
async function readRequest(
  { store, digester }: TokenEndpointDeps,
  { id: environmentId }: EnvironmentRow,
  sent: SentForm,
  requestId: string,
): Promise<Outcome<{ clientId: string; form: Form; cause: Cause }>> {
  const form = readForm(sent.form);
  if (!form.ok) return form;
  const client = readClient(sent.authorizationHeader, form.value);
  if (!client.ok) return client;
  const error = await authenticateClient(store.read, digester, environmentId, client.value);
  if (error) return failed(error);
  const cause = { environmentId, actor: ACTOR, requestId };
  return { ok: true, value: { clientId: client.value.clientId, form: form.value, cause } };
}

function issued(
  { sealedData, now }: TokenEndpointDeps,
  grant: OAuthGrantRow,
  scopes: readonly string[],
  refreshes: boolean,
): Outcome<IssuedToken> {
  return {
    ok: true,
    value: {
      access_token: mintAccessToken(sealedData, grant, scopes, now()),
      token_type: 'Bearer',
      expires_in: MCP_LOGIN.accessTokenMs / 1000,
      scope: scopes.join(' '),
      ...(refreshes && { refresh_token: mintRefreshToken(sealedData, grant) }),
    },
  };
}
