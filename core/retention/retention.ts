import type { EnvironmentRow, Store } from '../../db/store.ts';
import { RETENTION } from '../budgets.ts';
import type { ArchiveAudit } from './audit-archive.ts';
import { EXPIRING, type Expiring } from './expiring.ts';

export interface RetentionTools {
  store: Pick<Store, 'read' | 'write'>;
  /** Milliseconds UTC. */
  now(): number;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
  log: { error(fields: object, message: string): void };
  expiring?: readonly Expiring[];
  /** Copies to the archive what `expiring` then removes from the audit log. */
  archiveAudit?: ArchiveAudit;
}

export interface Retention {
  /**
   * Removes every row that has expired, in pieces, with a pause after each. A kind of row that cannot be removed now is logged and
   * tried again by the next run.
   *
   * @param signal ends the run after the piece under way
   * @returns how many rows were removed
   * @throws StorageError when the environments cannot be read
   */
  run(signal?: AbortSignal): Promise<number>;
}

export function createRetention(tools: RetentionTools): Retention {
  const { store, now, wait, log, expiring = EXPIRING, archiveAudit } = tools;

  async function removeAll(
    environment: EnvironmentRow,
    { name, removeSome }: Expiring,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0;
    try {
      while (!signal?.aborted) {
        const some = await store.write((tx) => removeSome(tx, environment, now()));
        if (some === 0) break;
        removed += some;
        await wait(RETENTION.pauseMs);
      }
    } catch (err) {
      log.error({ err, environment: environment.id }, `expired ${name} could not be removed`);
    }
    return removed;
  }

  return {
    async run(signal) {
      let removed = 0;
      for (const environment of await store.read.environments.list()) {
        await archiveAudit?.(environment, () => signal?.aborted === true).catch((err: unknown) => {
          log.error({ err, environment: environment.id }, 'audit records could not be archived');
        });
        for (const kind of expiring) removed += await removeAll(environment, kind, signal);
      }
      return removed;
    },
  };
}
