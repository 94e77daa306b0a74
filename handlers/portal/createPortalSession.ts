import type { Portal } from '../../core/capabilities/portal.ts';
import { ApiError } from '../../core/errors.ts';
import { createSession } from '../../core/portal/sessions.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const createPortalSession: Handler<'createPortalSession', Portal> = (call, reply, portal) => {
  const { organization_id: organizationId = '', user_id: userId = '', identifier, language } = call.body;
  const { user_verify_url: userVerifyUrl, return_url: returnUrl } = call.body;
  if (organizationId === '' && userId === '') {
    throw new ApiError('VALIDATION_FAILED', 'The user is not fully identified.', {
      errors: [{ field: 'user_id', message: 'is required, or organization_id' }],
    });
  }
  const request = { organizationId, userId, identifier, userVerifyUrl, returnUrl, language };
  return call.commit(async (tx) => {
    const environment = await currentEnvironment(tx, call.environment.id);
    const session = await createSession(tx, portal, environment, request, call.client.clientId, call.cause);
    return reply(201, { id: session.id, url: session.url, expires_at: rfc3339(session.expiresAt) });
  });
};
