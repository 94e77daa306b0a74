import { verify } from '../../core/accounts/links/verify.ts';
import type { Links } from '../../core/capabilities/links.ts';
import { ApiError } from '../../core/errors.ts';
import type { Handler } from '../../http/contract.ts';

const UNKNOWN =
  'No verification is pending for this auth_request_id. It may have expired: check the status of the account.';

export const verifyUser: Handler<'verifyUser', Links> = (call, reply, links) => {
  const { auth_request_id: authRequestId, identifier, allow_subject_change: allowSubjectChange = false } = call.body;
  // Failures are returned and not thrown, because the transaction counts them, so it must be committed.
  return call.commit(async (tx) => {
    const claim = { authRequestId, identifier, allowSubjectChange };
    const verified = await verify(tx, links, call.environment, claim, call.cause);
    switch (verified.kind) {
      case 'verified':
        return reply(200, { post_user_verify_redirect_url: verified.redirectUrl });
      case 'unknown':
        return call.problem(new ApiError('NOT_FOUND', UNKNOWN));
      case 'mismatch':
        return call.problem(new ApiError('IDENTIFIER_MISMATCH', 'This link belongs to a different user.'));
      case 'subject_changed':
        return call.problem(
          new ApiError(
            'SUBJECT_CHANGED',
            'The user authorized a different provider account than before. Send a new link, or set allow_subject_change.',
          ),
        );
    }
  });
};
