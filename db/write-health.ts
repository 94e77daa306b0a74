import type { StorageError } from './errors.ts';

/** Told when writes begin to fail, and when they work again. */
export interface HealthWatch {
  /** A transaction or a unit of it was lost. `first` is false while earlier ones had failed already. */
  failed?: ((error: StorageError, first: boolean) => void) | undefined;
  worksAgain?: (() => void) | undefined;
}

export interface WriteHealth {
  /** Why the last writes failed; null while they work. */
  failing(): StorageError | null;
  failed(error: StorageError): void;
  /**
   * Finds out whether writes work again, where they do not. Call it at intervals: they count as working after a whole interval without
   * a failure, since on a full disk some writes still find room.
   *
   * @param write makes a durable write, and rejects when it cannot
   */
  probe(write: () => Promise<unknown>): Promise<void>;
}

export function createWriteHealth({ failed, worksAgain }: HealthWatch): WriteHealth {
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
