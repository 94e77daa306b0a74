import { join } from 'node:path';
import { type AuditFile, createAuditFile } from '../../db/audit-file.ts';
import type { AuditChain, AuditRow, EnvironmentId, EnvironmentRow, Store } from '../../db/store.ts';
import { RETENTION } from '../budgets.ts';
import type { Events } from '../events/events.ts';

export interface AuditArchiveDeps {
  store: Pick<Store, 'read' | 'write'>;
  events: Events;
  /** The directory of the archive; each environment has a folder in it, named by its id. */
  directory: string;
  /** Milliseconds UTC. */
  now(): number;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
}

/**
 * Archives the audit records of an environment that are old enough. Ends early, with complete files, when `isStopped`
 * returns true.
 */
export type ArchiveAudit = (environment: EnvironmentRow, isStopped: () => boolean) => Promise<void>;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Copies audit records to files before they may be deleted: those of complete days (UTC) that are older than the audit
 * retention of the environment; none if the environment has no audit retention. The database marks records as archived
 * only after their file is on the disk under its final name. So an interruption loses nothing; the next run writes the
 * same records again.
 */
export function createAuditArchive({ store, events, directory, now, wait }: AuditArchiveDeps): ArchiveAudit {
  return async ({ id, settings }, isStopped) => {
    const { auditRetentionDays: days } = settings;
    if (days === undefined) return;
    const before = Math.floor(now() / DAY_MS - days) * DAY_MS;
    for (const chain of await store.read.audit.chains(id)) await archiveChain(id, chain, before, isStopped);
  };

  async function archiveChain(id: EnvironmentId, chain: AuditChain, before: number, isStopped: () => boolean) {
    while (!isStopped()) {
      const range = await writeFile(id, chain, before, isStopped);
      if (!range) return;
      const cause = { environmentId: id, actor: 'system', requestId: '' };
      await store.write(async (tx) => {
        await tx.audit.markArchived(id, chain, range.last.seq);
        await events.emit(tx, cause, {
          type: 'environment.audit_archived',
          subject: id,
          // The hash connects the file to the hash chain of the audit log.
          details: { first_seq: range.first.seq, last_seq: range.last.seq, last_hash: range.last.hash.toString('hex') },
          data: async (show) => ({ environment: await show.environment() }),
        });
      });
    }
  }

  /** @returns the first and the last record of the file; undefined if there is nothing to archive */
  async function writeFile(id: EnvironmentId, chain: AuditChain, before: number, isStopped: () => boolean) {
    let file: AuditFile | undefined;
    let range: { first: AuditRow; last: AuditRow } | undefined;
    try {
      for (let count = 0; count < RETENTION.auditFileRows && !isStopped(); count += RETENTION.rows) {
        const rows = await store.read.audit.unarchived(id, chain, range?.last.seq ?? 0, RETENTION.rows);
        const expired = rows.slice(0, lengthBefore(rows, before));
        const [first, last] = [expired[0], expired.at(-1)];
        if (!first || !last) break;
        file ??= await createAuditFile(join(directory, id), chain);
        await file.append(expired);
        range = { first: range?.first ?? first, last };
        if (expired.length < RETENTION.rows) break;
        await wait(RETENTION.pauseMs);
      }
      await file?.finish();
      return range;
    } catch (error) {
      await file?.discard();
      throw error;
    }
  }
}

/**
 * Returns how many records can be archived. They are archived in order, so the first record that is too recent also
 * prevents the archiving of all later records.
 */
function lengthBefore(rows: readonly AuditRow[], before: number): number {
  const kept = rows.findIndex(({ at }) => at >= before);
  return kept < 0 ? rows.length : kept;
}
