import { LIFETIME } from '../../core/budgets.ts';
import type { Tokens } from '../../core/capabilities/tokens.ts';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import { verifyClientSecret } from '../../core/tokens/client-secret.ts';
import type { Scope } from '../../core/tokens/scopes.ts';
import { invalidClient, tokenError } from '../../core/tokens/token-error.ts';
import { readTokenRequest } from '../../core/tokens/token-request.ts';
import type { Handler } from '../../http/contract.ts';
import { tokenErrorReply } from './token-error-reply.ts';

const LIFETIME_SECONDS = LIFETIME.accessTokenMs / 1000;

/** The grant types of clients that act for users. */
const USER_GRANTS: readonly unknown[] = ['authorization_code', 'refresh_token'];

/** Issues a token (RFC 6749 §3.2). */
export const issueToken: Handler<'issueToken', Tokens> = (call, reply, tokens) =>
  USER_GRANTS.includes(call.body.grant_type) ? issueForUser(call, reply, tokens) : issueForClient(call, reply, tokens);

/** Issues tokens to an MCP client on behalf of the user who logged in (RFC 6749 §4.1.3 and §6). */
const issueForUser: Handler<'issueToken', Tokens> = async (call, reply, tokens) => {
  const { issueGrantToken } = await import('../../core/mcp-login/token-endpoint.ts');
  const sent = { authorizationHeader: call.headers['authorization'], form: call.body };
  const issued = await issueGrantToken(tokens, call.environment, sent, call.requestId);
  if (issued.ok) return reply(200, issued.value, { pragma: 'no-cache' });
  call.refused({ reason: issued.error.error });
  return tokenErrorReply(reply, issued.error);
};

/** RFC 6749 §4.4: an access token for the client itself. */
const issueForClient: Handler<'issueToken', Tokens> = async (call, reply, tokens) => {
  const read = readTokenRequest({ authorizationHeader: call.headers['authorization'], form: call.body });
  if (!read.ok) {
    if (read.error.error === 'invalid_client') call.refused({ reason: 'no_credentials' });
    return tokenErrorReply(reply, read.error);
  }
  const { clientId, clientSecret, scope, method } = read.request;
  const client = await tokens.store.read.apiClients.get(call.environment.id, clientId, tokens.now());
  const live = client?.enabled ? client.secrets.map((secret) => secret.digest) : [];
  // Also called for an unknown client, so that its response takes as long as any other.
  const authenticated = verifyClientSecret(clientSecret, live, tokens.digester);
  if (!client || !authenticated) {
    call.refused(
      client ? { reason: client.enabled ? 'secret' : 'client_disabled', clientId } : { reason: 'client_unknown' },
    );
    return tokenErrorReply(reply, invalidClient(method === 'client_secret_basic'));
  }
  const granted = scope ?? (client.scopes as Scope[]);
  const missing = granted.filter((wanted) => !client.scopes.includes(wanted));
  if (missing.length > 0) {
    call.refused({ reason: 'scope', clientId });
    const description = `The client does not have the requested scopes ${missing.join(', ')}`;
    return tokenErrorReply(reply, tokenError('invalid_scope', description));
  }
  const { baseUrl } = call.environment;
  const token = issueAccessToken(
    tokens.signingKeys.current,
    {
      issuer: baseUrl,
      audience: baseUrl,
      clientId,
      environmentId: call.environment.id,
      generation: client.generation,
      scopes: granted,
    },
    tokens.now(),
    tokens.random,
    LIFETIME_SECONDS,
  );
  const answer = { token_type: 'Bearer' as const, expires_in: LIFETIME_SECONDS, scope: granted.join(' ') };
  return reply(200, { access_token: token, ...answer }, { pragma: 'no-cache' });
};
