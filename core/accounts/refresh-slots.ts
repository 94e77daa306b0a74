import { LRUCache } from 'lru-cache';
import { RefreshPace, type Verdict } from './refresh-pace.ts';

export interface SlotLimits {
  /** Tasks at once, in all. */
  total: number;
  /** Tasks at once in one lane: to begin with, and at most. */
  first: number;
  most: number;
  /** Tasks of one lane that may wait. */
  waiting: number;
  /** The longest wait, in milliseconds. */
  waitMs: number;
}

/** There was no place in time. */
export class SlotsBusyError extends Error {
  /** When there may be one. */
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
 * Bounds how many refreshes run at once, in all and per lane (a provider of an environment), so that ten thousand accounts which
 * expire together neither flood a provider nor keep another one's accounts waiting behind a slow one (threat R8). Within a lane, first
 * come is first served; between lanes, each in turn. A lane has as many places as its provider takes well, and no more than are still
 * free: however many are slow, another one finds a place. Nobody waits without bound.
 */
export class RefreshSlots {
  readonly #limits: SlotLimits;
  readonly #clock: () => number;
  /** In the order of their turns. */
  readonly #lanes = new Map<string, Lane>();
  /** Kept when a lane is empty: what was found out holds for the next time. */
  readonly #paces = new LRUCache<string, RefreshPace>({ max: PACES });
  /** How long a task took of late, in milliseconds. */
  #lastMs = 1_000;
  #active = 0;

  /** @param clock milliseconds; only differences count */
  constructor(limits: SlotLimits, clock: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Whether a task of this lane would begin at once. */
  isFree(key: string): boolean {
    const active = this.#lanes.get(key)?.active ?? 0;
    return active < this.#pace(key).width && active < this.#limits.total - this.#active;
  }

  /**
   * Runs a task once there is a place for it.
   *
   * @param judge says by the result how the provider takes what it is given
   * @throws SlotsBusyError when there is none in time, and what the task throws
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

  /** By when those who wait now would have had their turn. */
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

  /** The place is handed over within this turn: nobody who comes later can take it first. */
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
