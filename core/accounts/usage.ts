/** Writes the times of use of one environment's accounts. */
export type WriteUsage = (environmentId: string, times: { id: string; lastUsedAt: number }[]) => Promise<void>;

/** Milliseconds UTC by account, by environment. */
type Times = Map<string, Map<string, number>>;

/**
 * Remembers when accounts were last used, and writes it in batches: a durable write per call would cost more than it tells.
 * Reads see the remembered time at once; a crash loses at most one interval of it.
 */
export class UsageTracker {
  readonly #write: WriteUsage;
  #pending: Times = new Map();
  /** On its way to the database: not in it yet, so reads still need it. */
  #leaving: Times = new Map();

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
    const remembered = [this.#pending, this.#leaving].map((times) => times.get(environmentId)?.get(accountId));
    return remembered.find((at) => at !== undefined) ?? stored;
  }

  /**
   * Writes what is pending. What fails to be written stays pending and keeps nothing else back.
   *
   * @throws the first failure
   */
  async flush(): Promise<void> {
    this.#leaving = this.#pending;
    this.#pending = new Map();
    const failures: unknown[] = [];
    for (const [environmentId, times] of this.#leaving) {
      const rows = [...times].map(([id, lastUsedAt]) => ({ id, lastUsedAt }));
      await this.#write(environmentId, rows).catch((error) => {
        failures.push(error);
        for (const [id, at] of times) this.#keep(environmentId, id, at);
      });
    }
    this.#leaving = new Map();
    if (failures.length > 0) throw failures[0];
  }

  /** A use in the meantime is the later one. */
  #keep(environmentId: string, accountId: string, at: number): void {
    if (!this.#pending.get(environmentId)?.has(accountId)) this.touch(environmentId, accountId, at);
  }
}
