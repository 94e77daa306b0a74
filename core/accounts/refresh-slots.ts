import { LRUCache } from 'lru-cache';
import { Lanes, type ReleaseSlot } from '../scheduling/lanes.ts';
import { type LoadVerdict, RefreshPace } from './refresh-pace.ts';

export interface SlotLimits {
  /** Concurrent tasks in total. */
  total: number;
  /** Concurrent tasks in one lane (a provider of an environment): initially, and at most. */
  first: number;
  most: number;
  /** Tasks of one lane that may wait. */
  waiting: number;
  /** The longest wait, in milliseconds. */
  waitMs: number;
}

/** No slot became free in time, or too many tasks of the lane were already waiting. */
export class SlotsBusyError extends Error {
  /** Milliseconds until a slot may be free. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('The token refresh waited too long for a free slot.');
    this.name = 'SlotsBusyError';
    this.retryAfterMs = retryAfterMs;
  }
}

const PACES = 1_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Limits how many refreshes run concurrently, in total and per lane (a provider of an environment). So ten thousand
 * accounts that expire together neither overload a provider nor delay the accounts of another provider (threat R8). A
 * lane is a queue; the lanes take turns. A lane gets as many slots as its provider can handle, and only while more
 * slots are free than it already has, so that it leaves slots to the other lanes. Every wait has a limit.
 */
export class RefreshSlots {
  readonly #limits: SlotLimits;
  readonly #clock: () => number;
  readonly #lanes: Lanes;
  /** The adaptive limit of each lane. It is kept while the lane is empty, so that the learned limit is used again. */
  readonly #paces = new LRUCache<string, RefreshPace>({ max: PACES });
  /** The duration of the last task that did not throw, in milliseconds. */
  #lastMs = 1_000;

  /** @param clock milliseconds; only differences are used */
  constructor(limits: SlotLimits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
    this.#lanes = new Lanes({
      total: limits.total,
      perLane: (key) => this.#pace(key).width,
      waiting: { limit: limits.waiting, full: (key) => this.#busy(key, this.#lanes.waitingIn(key)) },
    });
  }

  /** Whether a task of this lane would start immediately. */
  isFree(key: string): boolean {
    return this.#lanes.isFree(key);
  }

  /**
   * Runs a task when a slot is free.
   *
   * @param verdictOf returns how the provider handled the request
   * @throws SlotsBusyError if no slot became free in time or the queue of the lane is full; and what the task throws
   */
  async run<T>(
    key: string,
    task: () => Promise<T>,
    verdictOf: (result: T) => LoadVerdict = () => 'unknown',
  ): Promise<T> {
    const leave = this.#lanes.tryEnter(key) ?? (await this.#wait(key));
    const pace = this.#pace(key);
    const stride = pace.begin(this.#lanes.activeIn(key));
    const startedAt = this.#clock();
    try {
      const result = await task();
      this.#lastMs = this.#clock() - startedAt;
      pace.end(stride, this.#lastMs, verdictOf(result));
      return result;
    } finally {
      leave();
    }
  }

  #pace(key: string): RefreshPace {
    const pace = this.#paces.get(key) ?? new RefreshPace(this.#limits);
    this.#paces.set(key, pace);
    return pace;
  }

  async #wait(key: string): Promise<ReleaseSlot> {
    const late = new AbortController();
    const { waitMs } = this.#limits;
    // The task that gives up is not counted.
    const giveUp = () => late.abort(this.#busy(key, this.#lanes.waitingIn(key) - 1));
    const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs) : undefined;
    try {
      return await this.#lanes.enter(key, late.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the error with an estimate of when every waiting task will have had a slot. */
  #busy(key: string, waiting: number): SlotsBusyError {
    const rounds = Math.ceil((waiting + 1) / this.#pace(key).width);
    return new SlotsBusyError(Math.ceil(Math.min(LONGEST_RETRY_MS, Math.max(1_000, rounds * this.#lastMs))));
  }
}
