export interface ByteBudgetLimits {
  totalBytes: number;
  /** The longest wait for space, in milliseconds. */
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
 * Limits the bytes of bodies that the process holds (threat E4), and divides them between parties: a party may hold as many bytes
 * as are still free. A single party gets half of all, two parties a third each, so another party always finds space. First bytes
 * may exceed this, up to twice the free bytes, so that large bodies do not block calls with small ones.
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

  /** Requests that are waiting for space. */
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

  /** For holds: takes bytes if there is space. */
  take(party: ByteAllowance, bytes: number, isFirst: boolean): boolean {
    const free = this.#limits.totalBytes - this.#used - bytes;
    if (party.used + bytes > (isFirst ? FIRST : 1) * free) return false;
    party.used += bytes;
    this.#used += bytes;
    return true;
  }

  /** For holds: releases bytes and resumes the waiting requests that now fit; a large one does not block the others. */
  give(party: ByteAllowance, bytes: number): void {
    party.used -= bytes;
    this.#used -= bytes;
    for (const waiting of this.#waiting) if (this.take(waiting.party, waiting.bytes, true)) waiting.admit();
  }

  /** For holds: waits for space for first bytes. @returns whether they were taken in time */
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

  /** Takes more. @returns false if there is no space; then nothing is taken */
  grow(bytes: number): boolean {
    if (!this.#budget.take(this.#party, bytes, false)) return false;
    this.#bytes += bytes;
    return true;
  }

  /**
   * Takes first bytes, and waits if there is no space. Work that holds many bytes must not wait, because it could deadlock with
   * other such work.
   *
   * @param signal its reason ends the wait
   * @returns false if there was no space in time; then nothing is taken
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
