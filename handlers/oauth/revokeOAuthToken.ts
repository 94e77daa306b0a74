import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import type { Handler } from '../../http/contract.ts';
import { tokenErrorReply } from './token-error-reply.ts';

/** Revokes a token (RFC 7009 §2). */
export const revokeOAuthToken: Handler<'revokeOAuthToken', McpLogins> = async (call, reply, logins) => {
  const { revokeToken } = await import('../../core/mcp-login/token-endpoint.ts');
  const sent = { authorizationHeader: call.headers['authorization'], form: call.body };
  const revoked = await revokeToken(logins, call.environment, sent, call.requestId);
  return revoked.ok ? reply(200, {}) : tokenErrorReply(reply, revoked.error);
};
