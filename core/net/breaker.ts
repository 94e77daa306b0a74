import { EgressError } from './egress-error.ts';

interface Failing {
  /** Failed calls since the last response. */
  failures: number;
  /** Calls are rejected until this time, in milliseconds of the clock; 0 if calls are not paused. */
  openUntil: number;
  /** The length of the latest pause in milliseconds; 0 before the first pause. */
  pauseMs: number;
  /** Whether a test call is checking if the host responds again. */
  probing: boolean;
}

export interface BreakerLimits {
  /** The number of consecutive calls without a response after which calls are paused. */
  breakerFailures: number;
  /** The first pause and the longest pause, in milliseconds. The pause doubles with each failed test call. */
  breakerPauseMs: number;
  breakerMaxPauseMs: number;
}

/** The maximum number of tracked origins; beyond it the least recently failed one is removed. */
const MAX_ORIGINS = 10_000;

/**
 * Circuit breaker: stops calls to an origin that does not respond, so that callers fail immediately instead of waiting
 * for a timeout (threat E11). After a pause, one call tests the origin. A response with any status, even 503, counts as
 * a success, because its caller does not have to wait for a timeout.
 */
export class OriginBreaker {
  readonly #origins = new Map<string, Failing>();
  readonly #limits: BreakerLimits;
  readonly #clock: () => number;

  /** @param clock milliseconds; only differences are used */
  constructor(limits: BreakerLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * @throws EgressError `unreachable` while calls to the origin are paused, or while the test call after a pause is
   * running. Its `retryAfterMs` is the time to wait; nothing was sent.
   */
  check(origin: string): void {
    const state = this.#origins.get(origin);
    if (state === undefined || state.openUntil === 0) return;
    const leftMs = Math.ceil(state.openUntil - this.#clock());
    if (leftMs <= 0 && !state.probing) return;
    throw new EgressError(
      'unreachable',
      `Several calls to ${origin} failed without a response, so calls to it are paused. Try again later.`,
      {
        retryAfterMs: Math.max(leftMs, this.#limits.breakerPauseMs),
      },
    );
  }

  /**
   * Lists the origins to which calls are paused, including those whose pause has ended but that were not tested yet.
   */
  open(): string[] {
    return [...this.#origins].filter(([, { openUntil }]) => openUntil !== 0).map(([origin]) => origin);
  }

  /** Makes a call unless calls to the origin are paused, and records its result. */
  async run<T>(origin: string, call: () => Promise<T>): Promise<T> {
    this.check(origin);
    const known = this.#origins.get(origin);
    const isProbe = known !== undefined && known.openUntil !== 0;
    if (isProbe) known.probing = true;
    try {
      const answer = await call();
      this.#origins.delete(origin);
      return answer;
    } catch (error) {
      if (isProbe) known.probing = false;
      const kind = error instanceof EgressError ? error.kind : undefined;
      if (kind === 'unreachable' || kind === 'timeout') this.#failed(origin, isProbe);
      // An invalid response is still a response of the host.
      else if (kind === 'too_large' || kind === 'invalid_response') this.#origins.delete(origin);
      throw error;
    }
  }

  #failed(origin: string, isProbe: boolean): void {
    const { breakerFailures, breakerPauseMs, breakerMaxPauseMs } = this.#limits;
    const state = this.#origins.get(origin) ?? { failures: 0, openUntil: 0, pauseMs: 0, probing: false };
    state.failures++;
    // Calls that were running when the breaker opened do not extend the pause.
    const opens = isProbe || (state.openUntil === 0 && state.failures >= breakerFailures);
    if (opens) {
      state.pauseMs = Math.min(breakerMaxPauseMs, Math.max(breakerPauseMs, state.pauseMs * 2));
      state.openUntil = this.#clock() + state.pauseMs;
    }
    this.#origins.delete(origin);
    this.#origins.set(origin, state);
    const [oldest] = this.#origins.keys();
    if (this.#origins.size > MAX_ORIGINS && oldest !== undefined) this.#origins.delete(oldest);
  }
}
