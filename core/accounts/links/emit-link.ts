import type { Transaction } from '../../../db/store.ts';
import type { Cause, Events } from '../../events/events.ts';
import type { LinkContext } from './link-context.ts';

/** Emits an event about a link. Its data is the id of the link, and the account. */
export function emitLink(
  tx: Transaction,
  { events }: { events: Events },
  type: 'link.opened' | 'link.completed',
  { request, account }: Pick<LinkContext, 'request' | 'account'>,
  cause: Cause,
): Promise<void> {
  return events.emit(tx, cause, {
    type,
    subject: account.id,
    details: { link_id: request.id },
    data: (show) => show.linkAccount(account.id),
  });
}
