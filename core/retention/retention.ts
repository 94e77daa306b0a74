import type { EnvironmentRow, Store } from '../../db/store.ts';
import { RETENTION } from '../budgets.ts';
import type { ArchiveAudit } from './audit-archive.ts';
import { EXPIRING, type Expiring } from './expiring.ts';

export interface RetentionDeps {
  store: Pick<Store, 'read' | 'write'>;
  /** Milliseconds UTC. */
  now(): number;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  log: { error(fields: object, message: string): void };
  expiring?: readonly Expiring[];
  /** Archives audit records, which are deleted afterwards. */
  archiveAudit?: ArchiveAudit;
}

export interface Retention {
  /**
   * Archives old audit records, then deletes every expired row, in batches with a pause after each. If audit records
   * cannot be archived, or a kind of row cannot be deleted, the error is logged and the next run tries again.
   *
   * @param signal stops the run after the current batch
   * @returns how many rows were deleted
   * @throws StorageError if the environments cannot be read
   */
  run(signal?: AbortSignal): Promise<number>;
}

export function createRetention(deps: RetentionDeps): Retention {
  const { store, now, wait, log, expiring = EXPIRING, archiveAudit } = deps;

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
