export interface ByteBudgetLimits {
  totalBytes: number;
  /** The longest wait for room, in milliseconds. */
  waitMs: number;
  /** Pieces of work that may wait, of all parties together. */
  waiting: number;
}

/** A party that grows may hold as much as is free afterwards; its first bytes may go up to this multiple of it. */
const FIRST = 2;

interface Waiting {
  party: ByteAllowance;
  bytes: number;
  admit(): void;
}

/**
 * Bounds the bytes of bodies that the process holds (threat E4), and divides them between parties: a party may hold as many bytes as
 * are still free. One alone gets half of all, two greedy ones a third each, and whatever others take, another one finds room. First
 * bytes may go beyond that, up to twice what is free: bodies that are large do not keep out calls whose bodies are small.
 */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits;
  /** Environments, which an operator makes: their number needs no bound. */
  readonly #parties = new Map<string, ByteAllowance>();
  readonly #waiting = new Set<Waiting>();
  #used = 0;

  constructor(limits: ByteBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that all parties hold now. */
  get used(): number {
    return this.#used;
  }

  /** Pieces of work that wait for room now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The part of a party; the same name draws from the same part. */
  of(name: string): ByteAllowance {
    const known = this.#parties.get(name);
    if (known !== undefined) return known;
    const party = new ByteAllowance(this);
    this.#parties.set(name, party);
    return party;
  }

  /** For holds: takes bytes if there is room. */
  take(party: ByteAllowance, bytes: number, isFirst: boolean): boolean {
    const free = this.#limits.totalBytes - this.#used - bytes;
    if (party.used + bytes > (isFirst ? FIRST : 1) * free) return false;
    party.used += bytes;
    this.#used += bytes;
    return true;
  }

  /** For holds: gives bytes back, and lets those go on who find room now; one that needs much does not hold up the others. */
  give(party: ByteAllowance, bytes: number): void {
    party.used -= bytes;
    this.#used -= bytes;
    for (const waiting of this.#waiting) if (this.take(waiting.party, waiting.bytes, true)) waiting.admit();
  }

  /** For holds: waits for room for first bytes. @returns whether they were taken in time */
  wait(party: ByteAllowance, bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    if (this.#waiting.size >= this.#limits.waiting) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { party, bytes, admit: () => settle(() => resolve(true)) };
      const abort = () => settle(() => reject(signal?.reason));
      const timer = setTimeout(() => settle(() => resolve(false)), this.#limits.waitMs);
      const settle = (end: () => void) => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        end();
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiting);
    });
  }
}

/** What one party, an environment, holds of a budget. */
export class ByteAllowance {
  readonly #budget: ByteBudget;
  /** Bytes held now; the budget keeps it. */
  used = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** @returns nothing held yet */
  hold(): ByteHold {
    return new ByteHold(this.#budget, this);
  }
}

/** What one piece of work holds in memory of bodies, until it releases it. */
export class ByteHold {
  readonly #budget: ByteBudget;
  readonly #party: ByteAllowance;
  #bytes = 0;

  constructor(budget: ByteBudget, party: ByteAllowance) {
    this.#budget = budget;
    this.#party = party;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes more. @returns false when there is no room; nothing is taken then */
  grow(bytes: number): boolean {
    if (!this.#budget.take(this.#party, bytes, false)) return false;
    this.#bytes += bytes;
    return true;
  }

  /**
   * Takes first bytes, and waits for room when there is none. Work that holds many bytes must not wait: it could wait for other work
   * that does the same.
   *
   * @param signal its reason ends the wait
   * @returns false when there was no room in time; nothing is taken then
   */
  async reserve(bytes: number, signal?: AbortSignal): Promise<boolean> {
    const isTaken =
      this.#budget.take(this.#party, bytes, true) || (await this.#budget.wait(this.#party, bytes, signal));
    if (isTaken) this.#bytes += bytes;
    return isTaken;
  }

  /** Gives everything back; it can be used again. */
  release(): void {
    if (this.#bytes === 0) return;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#budget.give(this.#party, bytes);
  }
}
