import type { EventSink } from './sink.ts';
import type { EventType } from './types.ts';

/** Events that do not change the status or the credentials of an account. */
const WITHOUT_CHANGE: ReadonlySet<EventType> = new Set([
  'connected_account.credentials_read',
  'connected_account.refresh_failed',
]);

/** Calls a function with the id of each account that was created, changed or deleted, once the change is committed. */
export function createAccountSink(changed: (accountId: string) => void): EventSink {
  return {
    accepts: (type) => type.startsWith('connected_account.') && !WITHOUT_CHANGE.has(type),
    handle: (tx, { subject }) => tx.afterCommit(() => changed(subject)),
  };
}
