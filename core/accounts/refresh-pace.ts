/**
 * Limits of the concurrent refreshes for a provider: `first` is the maximum at the start, and the maximum never exceeds
 * `most`.
 */
export interface PaceLimits {
  first: number;
  most: number;
}

/** If a request takes longer than this multiple of the shortest duration, the provider is assumed to queue requests. */
const SLOW = 2;
/**
 * The recorded shortest duration grows by this factor with each granted token. After about a hundred responses the new
 * speed of a slower provider counts as normal.
 */
const FADE = 1.01;

/**
 * `well`: the provider granted a token. `strained`: the provider limits requests, fails or does not respond. `unknown`:
 * there was no request, or its response shows nothing about the load.
 */
export type LoadVerdict = 'well' | 'strained' | 'unknown';

/** A refresh that is running. */
export interface RunningRefresh {
  /** How often the width (see `RefreshPace`) had been reduced when this refresh started. */
  readonly reductions: number;
  /**
   * Whether this refresh took the last free place. The width grows only after such a refresh, because otherwise places
   * are still free.
   */
  readonly isFull: boolean;
}

/**
 * Adjusts the width: the maximum number of concurrent refreshes for a provider. It uses additive increase and
 * multiplicative decrease, as TCP does. A success changes the width only if its refresh took the last free place: at
 * first it adds one. If the provider limits requests, fails or does not respond, the width is halved. From then on,
 * such a success adds only one divided by the width. The width does not grow while refreshes take more than twice as
 * long as the fastest ones.
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

  /** The maximum number of concurrent refreshes, rounded down. */
  get width(): number {
    return Math.floor(this.#width);
  }

  begin(active: number): RunningRefresh {
    return { reductions: this.#reductions, isFull: active >= this.width };
  }

  /** @param ms the duration of the refresh, in milliseconds */
  end({ reductions, isFull }: RunningRefresh, ms: number, verdict: LoadVerdict): void {
    if (verdict === 'unknown') return;
    if (verdict === 'strained') {
      // If several concurrent refreshes show an overload, only the first reduces the width.
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
