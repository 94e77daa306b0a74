import { INSTANCE, STORAGE } from '../core/budgets.ts';
import { createScrub } from '../core/retention/scrub.ts';
import type { Hold } from '../db/engine.ts';
import { engineFor } from '../db/open-store.ts';
import { StorageError, type Store } from '../db/store.ts';
import { databaseLocation } from '../http/config/config.ts';
import { namingSetting } from '../http/config/paths.ts';
import { observe } from './observed-store.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import { showStorage } from './storage-metrics.ts';
import { createStorageWatch } from './storage-watch.ts';

export interface Storage {
  readonly store: Store;
  /** Whether other servers may use the database at the same time. */
  readonly isShared: boolean;
  /** Removes deleted data from the database files soon, for many deletions together. */
  scrubStorage(): void;
  /** Whether the storage failed when it was last used. */
  isStorageFailing(): boolean;
}

/**
 * Opens the database, after making sure that this process may use it.
 *
 * @throws ConfigError, StorageError with a message for the operator
 */
export async function openStorage(
  { config, secrets, choose, closing }: Setup,
  parts: Pick<Runtime, 'now' | 'sharedClock' | 'wait' | 'startProcessJob' | 'log' | 'metrics'>,
): Promise<Storage> {
  const { now, startProcessJob, log, metrics } = parts;
  const location = databaseLocation(config, secrets);
  const engine = await engineFor(location);
  const onWait = () => log.warn('another server uses the database: waiting for it to end');
  const hold = await namingSetting(config.namedBy.database, () => engine.hold(location, { onWait }));
  closing.defer(hold.release);
  checkHold(hold, parts);
  const watch = createStorageWatch(parts);
  const { replicaUrl, listenUrl } = secrets;
  const connections = { ...config.connections, replica: replicaUrl?.reveal(), listen: listenUrl?.reveal() };
  const opened = await namingSetting(config.namedBy.database, () => engine.open({ location, now, watch, connections }));
  closing.defer(opened.close);
  await followClock(opened, parts);
  const store = choose('store', () => observe(opened, metrics));
  const scrub = createScrub({ ...parts, store });
  closing.defer(scrub.stop);
  startProcessJob({
    name: 'storage_probe',
    everyMs: STORAGE.probeEveryMs,
    run: store.probe,
    failure: 'the database could not be checked',
  });
  showStorage({ metrics, store, scrub });
  return {
    store,
    isShared: engine.isShared,
    scrubStorage: choose('scrubStorage', () => scrub.request),
    isStorageFailing: watch.isFailing,
  };
}

/**
 * Ends the process if another server has acquired the right to serve the database. Otherwise two servers would write to
 * it.
 */
function checkHold({ check }: Hold, { startProcessJob }: Pick<Runtime, 'startProcessJob'>): void {
  startProcessJob({
    name: 'lock_check',
    everyMs: INSTANCE.lockCheckEveryMs,
    async run() {
      try {
        await check();
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        setImmediate(() => {
          throw error;
        });
      }
    },
    failure: 'the lock of the database could not be checked',
  });
}

/** Sets the clock of this process by that of the database, so that all processes compare times of one clock. */
async function followClock(
  { clock: read }: Store,
  { sharedClock, startProcessJob }: Pick<Runtime, 'sharedClock' | 'startProcessJob'>,
): Promise<void> {
  if (!read) return;
  await sharedClock.follow(read);
  startProcessJob({
    name: 'clock',
    everyMs: INSTANCE.clockEveryMs,
    run: () => sharedClock.follow(read),
    failure: 'the clock of the database could not be read',
  });
}
