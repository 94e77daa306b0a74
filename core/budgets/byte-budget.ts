export interface ByteBudgetLimits {
  totalBytes: number;
  /** The longest wait for space, in milliseconds. */
  waitMs: number;
  /** Requests that may wait for space, of all environments together. */
  waiting: number;
}

/**
 * For the first bytes of a request, its environment may hold up to this multiple of the free bytes. For further bytes,
 * the limit is the free bytes themselves.
 */
const FIRST = 2;

interface Waiting {
  share: ByteAllowance;
  bytes: number;
  admit(): void;
}

/**
 * Limits the memory for bodies in the process (threat E4), and divides it between environments: an environment may hold
 * as many bytes as are still free. One environment alone gets half of the total, two get a third each, so another
 * environment always finds space. The first bytes of a request may exceed this limit, up to twice the free bytes, so
 * that large bodies do not block calls with small ones.
 */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits;
  /** One entry per environment. Only operators create environments, so the map stays small. */
  readonly #shares = new Map<string, ByteAllowance>();
  readonly #waiting = new Set<Waiting>();
  #used = 0;

  constructor(limits: ByteBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that all environments hold now. */
  get used(): number {
    return this.#used;
  }

  /** Requests that are waiting for space. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Returns the allowance of an environment; always the same object for the same name. */
  of(name: string): ByteAllowance {
    const known = this.#shares.get(name);
    if (known !== undefined) return known;
    const share = new ByteAllowance(this);
    this.#shares.set(name, share);
    return share;
  }

  /** For `ByteHold` only: takes bytes if there is space. */
  take(share: ByteAllowance, bytes: number, isFirst: boolean): boolean {
    const free = this.#limits.totalBytes - this.#used - bytes;
    if (share.used + bytes > (isFirst ? FIRST : 1) * free) return false;
    share.used += bytes;
    this.#used += bytes;
    return true;
  }

  /**
   * For `ByteHold` only: releases bytes and resumes the waiting requests that now fit; a large one does not block the
   * others.
   */
  give(share: ByteAllowance, bytes: number): void {
    share.used -= bytes;
    this.#used -= bytes;
    for (const waiting of this.#waiting) if (this.take(waiting.share, waiting.bytes, true)) waiting.admit();
  }

  /** For `ByteHold` only: waits for space for the first bytes of a request. @returns whether they were taken in time */
  wait(share: ByteAllowance, bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    if (this.#waiting.size >= this.#limits.waiting) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { share, bytes, admit: () => settle(() => resolve(true)) };
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

/** The share of one environment in a budget. */
export class ByteAllowance {
  readonly #budget: ByteBudget;
  /** Bytes held now; maintained by the budget. */
  used = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Returns a hold that has no bytes yet. */
  hold(): ByteHold {
    return new ByteHold(this.#budget, this);
  }
}

/** The memory that one request holds for its bodies, until it releases it. */
export class ByteHold {
  readonly #budget: ByteBudget;
  readonly #share: ByteAllowance;
  #bytes = 0;

  constructor(budget: ByteBudget, share: ByteAllowance) {
    this.#budget = budget;
    this.#share = share;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes more bytes. @returns false if there is not enough space; then no bytes are taken */
  grow(bytes: number): boolean {
    if (!this.#budget.take(this.#share, bytes, false)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** As `reserve`, but does not wait. @returns false if there is not enough space now */
  reserveNow(bytes: number): boolean {
    if (!this.#budget.take(this.#share, bytes, true)) return false;
    this.#bytes += bytes;
    return true;
  }

  /**
   * Takes the first bytes of a request, and waits until there is enough space. A request that already holds many bytes
   * must not wait, because two such requests could wait for each other.
   *
   * @param signal ends the wait; the promise rejects with its reason
   * @returns false if there was not enough space in time; then no bytes are taken
   */
  async reserve(bytes: number, signal?: AbortSignal): Promise<boolean> {
    if (this.reserveNow(bytes)) return true;
    const isTaken = await this.#budget.wait(this.#share, bytes, signal);
    if (isTaken) this.#bytes += bytes;
    return isTaken;
  }

  /** Releases all bytes. The hold can be used again. */
  release(): void {
    if (this.#bytes === 0) return;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#budget.give(this.#share, bytes);
  }
}
