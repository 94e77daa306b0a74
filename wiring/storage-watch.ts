import type { StoreWatch } from '../db/store.ts';
import type { Runtime } from './runtime.ts';

export interface StorageState extends StoreWatch {
  /** Whether the storage failed when it was last used. */
  isFailing(): boolean;
}

/** Logs when the storage begins to fail and when it works again, and counts each failure. */
export function createStorageWatch({ log, metrics }: Pick<Runtime, 'log' | 'metrics'>): StorageState {
  let isFailing = false;
  return {
    isFailing: () => isFailing,
    report: (err, what) => log.error({ err }, what),
    failed(err, first) {
      isFailing = true;
      metrics.storageFailure(err.code);
      if (first) log.error({ err }, 'the database fails');
    },
    worksAgain() {
      isFailing = false;
      log.info('the database works again');
    },
  };
}
