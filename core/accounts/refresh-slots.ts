import { LRUCache } from 'lru-cache';
import { RefreshPace, type Verdict } from './refresh-pace.ts';

export interface SlotLimits {
  /** Concurrent tasks in total. */
  total: number;
  /** Concurrent tasks in one lane: initially, and at most. */
  first: number;
  most: number;
  /** Tasks of one lane that may wait. */
  waiting: number;
  /** The longest wait, in milliseconds. */
  waitMs: number;
}

/** No place became free in time. */
export class SlotsBusyError extends Error {
  /** When a place may be free. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('The refresh had to wait too long.');
    this.name = 'SlotsBusyError';
    this.retryAfterMs = retryAfterMs;
  }
}

interface Lane {
  active: number;
  waiting: Set<() => void>;
}

const PACES = 1_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Limits how many refreshes run concurrently, in total and per lane (a provider of an environment), so that ten thousand accounts
 * that expire together neither flood a provider nor delay the accounts of another one (threat R8). A lane is a queue; the lanes
 * take turns. A lane gets as many places as its provider can handle, and at most half of the free ones, so other lanes always
 * find a place. Every wait has a limit.
 */
export class RefreshSlots {
  readonly #limits: SlotLimits;
  readonly #clock: () => number;
  /** In the order in which they take turns. */
  readonly #lanes = new Map<string, Lane>();
  /** Kept while a lane is empty, so that the learned pace is used again. */
  readonly #paces = new LRUCache<string, RefreshPace>({ max: PACES });
  /** How long a task took recently, in milliseconds. */
  #lastMs = 1_000;
  #active = 0;

  /** @param clock milliseconds; only differences are used */
  constructor(limits: SlotLimits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Whether a task of this lane would start immediately. */
  isFree(key: string): boolean {
    const active = this.#lanes.get(key)?.active ?? 0;
    return active < this.#pace(key).width && active < this.#limits.total - this.#active;
  }

  /**
   * Runs a task when there is a place for it.
   *
   * @param judge returns how the provider handled the request
   * @throws SlotsBusyError if no place became free in time; and what the task throws
   */
  async run<T>(key: string, task: () => Promise<T>, judge: (result: T) => Verdict = () => 'unknown'): Promise<T> {
    if (this.isFree(key)) this.#enter(key);
    else await this.#wait(key);
    const pace = this.#pace(key);
    const stride = pace.begin(this.#lane(key).active);
    const startedAt = this.#clock();
    try {
      const result = await task();
      this.#lastMs = this.#clock() - startedAt;
      pace.end(stride, this.#lastMs, judge(result));
      return result;
    } finally {
      this.#leave(key);
    }
  }

  #lane(key: string): Lane {
    const lane = this.#lanes.get(key) ?? { active: 0, waiting: new Set() };
    this.#lanes.set(key, lane);
    return lane;
  }

  #pace(key: string): RefreshPace {
    const pace = this.#paces.get(key) ?? new RefreshPace(this.#limits);
    this.#paces.set(key, pace);
    return pace;
  }

  #wait(key: string): Promise<void> {
    const lane = this.#lane(key);
    if (lane.waiting.size >= this.#limits.waiting) return Promise.reject(this.#busy(key, lane));
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        lane.waiting.delete(enter);
        reject(this.#busy(key, lane));
        this.#forget(key, lane);
      };
      const timer = Number.isFinite(this.#limits.waitMs) ? setTimeout(giveUp, this.#limits.waitMs) : undefined;
      lane.waiting.add(enter);
    });
  }

  /** Estimates when all tasks that wait now will have had a place. */
  #busy(key: string, { waiting }: Lane): SlotsBusyError {
    const rounds = Math.ceil((waiting.size + 1) / this.#pace(key).width);
    return new SlotsBusyError(Math.ceil(Math.min(LONGEST_RETRY_MS, Math.max(1_000, rounds * this.#lastMs))));
  }

  #enter(key: string): void {
    this.#lane(key).active++;
    this.#active++;
  }

  #leave(key: string): void {
    const lane = this.#lane(key);
    lane.active--;
    this.#active--;
    this.#forget(key, lane);
    while (this.#admitNext());
  }

  #forget(key: string, lane: Lane): void {
    if (lane.active === 0 && lane.waiting.size === 0) this.#lanes.delete(key);
  }

  /** The place is passed on in the same event-loop turn, so a later task cannot take it first. */
  #admitNext(): boolean {
    for (const [key, lane] of this.#lanes) {
      const [next] = lane.waiting;
      if (next === undefined || !this.isFree(key)) continue;
      this.#lanes.delete(key);
      this.#lanes.set(key, lane);
      lane.waiting.delete(next);
      this.#enter(key);
      next();
      return true;
    }
    return false;
  }
}
