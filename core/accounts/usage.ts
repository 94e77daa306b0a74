/** Writes the times of use of one environment's accounts. */
export type WriteUsage = (environmentId: string, times: { id: string; lastUsedAt: number }[]) => Promise<void>;

/**
 * Remembers when accounts were last used, and writes it in batches: a durable write per call would cost more than it tells.
 * Reads see the remembered time at once; a crash loses at most one interval of it.
 */
export class UsageTracker {
  readonly #write: WriteUsage;
  #pending = new Map<string, Map<string, number>>();

  constructor(write: WriteUsage) {
    this.#write = write;
  }

  /** @param at milliseconds UTC */
  touch(environmentId: string, accountId: string, at: number): void {
    const times = this.#pending.get(environmentId) ?? new Map<string, number>();
    times.set(accountId, at);
    this.#pending.set(environmentId, times);
  }

  /** The later of the stored time and the one that is not written yet. */
  lastUsedAt(environmentId: string, accountId: string, stored: number | null): number | null {
    return this.#pending.get(environmentId)?.get(accountId) ?? stored;
  }

  /** Writes what is pending; what fails to be written stays pending. */
  async flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = new Map();
    for (const [environmentId, times] of batch) {
      try {
        await this.#write(
          environmentId,
          [...times].map(([id, lastUsedAt]) => ({ id, lastUsedAt })),
        );
      } catch (error) {
        for (const [id, at] of times) {
          const newer = this.#pending.get(environmentId)?.get(id);
          if (newer === undefined) this.touch(environmentId, id, at);
        }
        throw error;
      }
    }
  }
}
