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
   * Removes every row that has expired, in pieces, with a pause after each. Never rejects: a kind of row that cannot be removed now
   * is logged and tried again by the next run. A second call during a run waits for that run.
   *
   * @returns how many rows were removed
   */
  run(): Promise<number>;
  /** Ends a run after the piece under way. No piece begins afterwards. */
  stop(): Promise<void>;
}

export function createRetention(tools: RetentionTools): Retention {
  const { store, now, wait, log, expiring = EXPIRING, archiveAudit } = tools;
  let running: Promise<number> | undefined;
  let stopped = false;

  async function removeAll(environment: EnvironmentRow, { name, removeSome }: Expiring): Promise<number> {
    let removed = 0;
    try {
      while (!stopped) {
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

  async function runOnce(): Promise<number> {
    let removed = 0;
    const environments = await store.read.environments.list().catch((err: unknown) => {
      log.error({ err }, 'expired rows could not be listed');
      return [];
    });
    for (const environment of environments) {
      await archiveAudit?.(environment, () => stopped).catch((err: unknown) => {
        log.error({ err, environment: environment.id }, 'audit records could not be archived');
      });
      for (const kind of expiring) removed += await removeAll(environment, kind);
    }
    return removed;
  }

  return {
    run() {
      running ??= runOnce().finally(() => {
        running = undefined;
      });
      return running;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
