import { requireListed } from '../../core/accounts/links/verify-url.ts';
import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { ApiError } from '../../core/errors.ts';
import { continuationUrl } from '../../core/mcp-login/addresses.ts';
import { completeLogin, findLogin } from '../../core/mcp-login/logins.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

const UNKNOWN = 'There is no open login with this login_request. It may have expired: the user must log in again.';

export const completeMcpLogin: Handler<'completeMcpLogin', McpLogins> = (call, reply, logins) => {
  const { login_request: loginRequest, identifier, user_verify_url: userVerifyUrl } = call.body;
  const { organization_id: organizationId = '', user_id: userId = '' } = call.body;
  if (organizationId === '' && userId === '') {
    throw new ApiError('VALIDATION_FAILED', 'The user is not fully identified.', {
      errors: [{ field: 'organization_id', message: 'is required, or user_id' }],
    });
  }
  return call.commit(async (tx) => {
    const environment = await currentEnvironment(tx, call.environment.id);
    const open = await findLogin(tx, logins, environment.id, 'login request', loginRequest);
    if (!open) throw new ApiError('NOT_FOUND', UNKNOWN);
    const completed = await completeLogin(tx, logins, environment.id, loginRequest, {
      organizationId,
      userId,
      identifier,
      userVerifyUrl: userVerifyUrl === undefined ? null : requireListed(environment, userVerifyUrl),
      identifiedBy: call.client.clientId,
    });
    if (!completed) throw new ApiError('NOT_FOUND', UNKNOWN);
    const { login, continuation } = completed;
    await logins.events.emit(tx, call.cause, {
      type: 'mcp_login.completed',
      subject: login.id,
      details: {
        client_id: login.request.clientId,
        server_id: login.request.serverId,
        user: { organization_id: organizationId || null, user_id: userId || null, identifier },
      },
      data: () => ({ login_id: login.id }),
    });
    return reply(200, {
      continue_url: continuationUrl(environment, continuation),
      expires_at: rfc3339(login.expiresAt),
    });
  });
};
