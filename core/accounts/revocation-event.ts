import type { EnvironmentId, Transaction } from '../../db/store.ts';
import type { Events } from '../events/events.ts';

export type RevocationEventType = 'revocation.succeeded' | 'revocation.skipped' | 'revocation.failed';

export interface EndedRevocation {
  environmentId: EnvironmentId;
  /** The id of the job. */
  id: string;
  accountId: string;
  /** Why the tokens were not revoked. */
  reason?: string | undefined;
}

/** Emits the event that a revocation has ended, in the transaction that stores its end. */
export async function emitRevocation(
  tx: Transaction,
  events: Events,
  type: RevocationEventType,
  { environmentId, id, accountId, reason }: EndedRevocation,
): Promise<void> {
  const cause = { environmentId, actor: 'system', requestId: '' };
  await events.emit(tx, cause, {
    type,
    subject: accountId,
    auditOnly: { revocation: id, ...(type !== 'revocation.succeeded' && { reason }) },
    data: async (show) => ({ revocation: await show.revocation(id) }),
  });
}
