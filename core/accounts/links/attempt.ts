import type { Cause } from '../../events/events.ts';
import type { Representations } from '../../events/renderer.ts';
import type { LinkContext } from './link-context.ts';
import type { LinkDeps } from './link-deps.ts';
import type { LinkError } from './return-address.ts';

/**
 * Records that an attempt of a user failed. The link stays open, so the user can try again, or go back to the
 * application, which is then told the reason.
 *
 * @param failure `refused`: the user or the provider declined. `failed`: the provider violated the protocol or could not
 * be reached
 */
export function attemptFailed(
  deps: Pick<LinkDeps, 'store' | 'events'>,
  { environment, request, account }: Pick<LinkContext, 'environment' | 'request' | 'account'>,
  { kind, message }: { kind: 'refused' | 'failed'; message: string },
  cause: Cause,
): Promise<void> {
  const error: LinkError = kind === 'refused' ? 'access_denied' : 'server_error';
  const common = { subject: account.id, details: { link_id: request.id, reason: message } };
  const data = (show: Representations) => show.linkAccount(account.id);
  return deps.store.write(async (tx) => {
    await tx.authRequests.setError(environment.id, request.id, error);
    await (kind === 'refused'
      ? deps.events.emit(tx, cause, { ...common, type: 'link.denied', data })
      : deps.events.emit(tx, cause, { ...common, type: 'link.attempt_failed', data }));
  });
}
