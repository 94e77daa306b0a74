/** Writes the times of use of one environment's accounts. */
export type WriteUsage = (environmentId: string, times: { id: string; lastUsedAt: number }[]) => Promise<void>;

/** The last use of each account in milliseconds UTC: environment id, then account id. */
type Times = Map<string, Map<string, number>>;

/** Maximum rows per transaction, because other writes wait until it ends. */
const BATCH = 200;

/**
 * Collects when accounts were last used and writes the times in batches: a durable write per call would cost too much.
 * Reads return the collected time immediately; a crash loses at most the times since the last flush.
 */
export class UsageTracker {
  readonly #write: WriteUsage;
  #pending: Times = new Map();
  /** Times that are being written to the database. Reads still need them. */
  #leaving: Times = new Map();
  #flushed: Promise<void> = Promise.resolve();

  constructor(write: WriteUsage) {
    this.#write = write;
  }

  /** @param at milliseconds UTC */
  touch(environmentId: string, accountId: string, at: number): void {
    const times = this.#pending.get(environmentId) ?? new Map<string, number>();
    times.set(accountId, at);
    this.#pending.set(environmentId, times);
  }

  /** Returns the collected time if it is not written yet, otherwise the stored time. */
  lastUsedAt(environmentId: string, accountId: string, stored: number | null): number | null {
    const remembered = [this.#pending, this.#leaving].map((times) => times.get(environmentId)?.get(accountId));
    return remembered.find((at) => at !== undefined) ?? stored;
  }

  /**
   * Writes the pending times, after the previous flush has ended. Times that cannot be written stay pending; the others
   * are still written.
   *
   * @throws the first failure
   */
  flush(): Promise<void> {
    const flushed = this.#flushed.then(() => this.#writePending());
    this.#flushed = flushed.catch(() => {});
    return flushed;
  }

  async #writePending(): Promise<void> {
    this.#leaving = this.#pending;
    this.#pending = new Map();
    const failures: unknown[] = [];
    for (const [environmentId, times] of this.#leaving) {
      // Rows are written in the order of their ids, so that consecutive rows are often on the same database page.
      const rows = [...times].map(([id, lastUsedAt]) => ({ id, lastUsedAt })).sort((a, b) => (a.id < b.id ? -1 : 1));
      for (let from = 0; from < rows.length; from += BATCH) {
        const batch = rows.slice(from, from + BATCH);
        await this.#write(environmentId, batch).catch((error) => {
          failures.push(error);
          for (const { id, lastUsedAt } of batch) this.#keep(environmentId, id, lastUsedAt);
        });
      }
    }
    this.#leaving = new Map();
    if (failures.length > 0) throw failures[0];
  }

  /** Keeps a time that could not be written, unless the account was used again since. */
  #keep(environmentId: string, accountId: string, at: number): void {
    if (!this.#pending.get(environmentId)?.has(accountId)) this.touch(environmentId, accountId, at);
  }
}
