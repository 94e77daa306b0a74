/** Limits of concurrent refreshes. */
export interface PaceLimits {
  first: number;
  most: number;
}

/** A duration beyond this multiple of the shortest one says that requests wait at the provider. */
const SLOW = 2;
/** How fast the shortest duration is forgotten: after about a hundred responses, a provider that has become slower counts as normal. */
const FADE = 1.01;

/** `strained`: the provider limits, fails or is silent. `unknown`: it was not asked, or said something else. */
export type Verdict = 'well' | 'strained' | 'unknown';

/** A refresh under way. */
export interface Stride {
  /** How often the pace had been reduced when it began. */
  readonly reductions: number;
  /** Whether it took the last place: only then it says that more places would be of use. */
  readonly isFull: boolean;
}

/**
 * The number of concurrent refreshes for a provider, with additive increase and multiplicative decrease as in TCP: the number
 * grows by one with each success, halves when the provider limits, fails or does not respond, and then grows slowly. It does not
 * grow while responses are slower than the fastest ones.
 */
export class RefreshPace {
  readonly #limits: PaceLimits;
  #width: number;
  #shortestMs = Number.POSITIVE_INFINITY;
  #reductions = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
    this.#width = limits.first;
  }

  /** Concurrent refreshes. */
  get width(): number {
    return Math.floor(this.#width);
  }

  begin(active: number): Stride {
    return { reductions: this.#reductions, isFull: active >= this.width };
  }

  /**
   * @param ms how long it took
   */
  end({ reductions, isFull }: Stride, ms: number, verdict: Verdict): void {
    if (verdict === 'unknown') return;
    if (verdict === 'strained') {
      // Those that were under way at the time of a reduction tell nothing new.
      if (reductions !== this.#reductions) return;
      this.#width = Math.max(1, this.#width / 2);
      this.#reductions++;
      return;
    }
    this.#shortestMs = Math.min(this.#shortestMs * FADE, ms);
    if (!isFull || ms > SLOW * this.#shortestMs) return;
    const step = this.#reductions === 0 ? 1 : 1 / this.#width;
    this.#width = Math.min(this.#limits.most, this.#width + step);
  }
}
