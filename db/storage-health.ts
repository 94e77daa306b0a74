import type { StorageError } from './errors.ts';

/** Functions that are called when the database begins to fail, and when it works again. */
export interface HealthWatch {
  /**
   * Called when a transaction or unit was lost, or a read failed because of the disk. `first` is false if the database
   * was already failing.
   */
  failed?: ((error: StorageError, first: boolean) => void) | undefined;
  worksAgain?: (() => void) | undefined;
}

export interface StorageHealth {
  /** Returns why the last writes or reads failed; null while they succeed. */
  failing(): StorageError | null;
  failed(error: StorageError): void;
  /**
   * Checks whether a failing database works again. Call it periodically: it counts as working after a whole interval
   * without a failure, because on a full disk some writes still succeed.
   *
   * @param write makes a durable write, and rejects when it cannot
   */
  probe(write: () => Promise<unknown>): Promise<void>;
}

export function createStorageHealth({ failed, worksAgain }: HealthWatch): StorageHealth {
  let failing: StorageError | null = null;
  let isQuiet = false;
  return {
    failing: () => failing,
    failed(error) {
      const first = failing === null;
      failing = error;
      isQuiet = false;
      failed?.(error, first);
    },
    async probe(write) {
      if (failing === null) return;
      const wasQuiet = isQuiet;
      isQuiet = true;
      try {
        await write();
      } catch {
        // The store has already reported the error to `failed`.
        return;
      }
      if (!wasQuiet || !isQuiet) return;
      failing = null;
      worksAgain?.();
    },
  };
}
