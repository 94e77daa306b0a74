import type { StorageError } from './errors.ts';

/** Told when the database begins to fail, and when it works again. */
export interface HealthWatch {
  /** A transaction or a unit of it was lost, or a read met a fault of the disk. `first` is false while earlier ones had failed already. */
  failed?: ((error: StorageError, first: boolean) => void) | undefined;
  worksAgain?: (() => void) | undefined;
}

export interface StorageHealth {
  /** Why the last writes or reads failed; null while they work. */
  failing(): StorageError | null;
  failed(error: StorageError): void;
  /**
   * Checks whether a failing database works again. Call it periodically: it counts as working after a whole interval without a failure, because on a full disk some writes still succeed.
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
        // The store has told `failed` of it.
        return;
      }
      if (!wasQuiet || !isQuiet) return;
      failing = null;
      worksAgain?.();
    },
  };
}
