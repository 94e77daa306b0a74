import type { StoreWatch } from '../db/store.ts';
import type { Deps } from './deps.ts';

/** Logs when writes begin to fail and when they work again, and counts each that fails. */
export function createStorageWatch({ log, metrics }: Pick<Deps, 'log' | 'metrics'>): StoreWatch {
  return {
    report: (err, what) => log.error({ err }, what),
    failed(err, first) {
      metrics.storageFailure(err.code);
      if (first) log.error({ err }, 'the database fails');
    },
    worksAgain: () => log.info('the database works again'),
  };
}
