import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { AUDIT } from '../budgets.ts';
import { presentAuditEvent } from '../present/audit-event.ts';
import type { AuditLogSlots } from './audit-log-slots.ts';

/**
 * Returns the audit log of an environment as JSON lines, chain by chain (a chain is a sequence of entries linked by
 * their hashes), the oldest entry of each chain first. The log is read in batches, as fast as the client reads the
 * response. The export ends early if `signal` is aborted.
 *
 * @throws ApiError RATE_LIMITED before the first batch, as `AuditLogSlots` does
 */
export async function* exportLog(
  read: Pick<ReadRepositories, 'audit'>,
  places: AuditLogSlots,
  environmentId: EnvironmentId,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const leave = places.take(environmentId);
  try {
    for (const chain of await read.audit.chains(environmentId)) {
      let after = chain.start;
      while (!signal.aborted) {
        const rows = await read.audit.following(environmentId, chain, after, AUDIT.exportedRows);
        if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(presentAuditEvent(row))}\n`).join('');
        if (rows.length < AUDIT.exportedRows) break;
        after = rows.at(-1)?.seq ?? after;
      }
    }
  } finally {
    leave();
  }
}
