export interface LaneLimits {
  /** Slots of all lanes together. If omitted, lanes do not share slots. */
  total?: number;
  /** Slots of one lane. */
  perLane: number | ((lane: string) => number);
  /** Entries of one lane that may wait for a slot. If omitted, any number may. */
  waiting?: number;
}

/** Too many entries of the lane are already waiting. */
export class LaneFullError extends Error {
  constructor() {
    super('Too many are waiting in this lane.');
    this.name = 'LaneFullError';
  }
}

interface Lane {
  active: number;
  waiting: Set<() => void>;
}

/** Releases a slot. Call it once. */
export type Leave = () => void;

/**
 * Limits how much runs concurrently, in total and per lane (a provider, an origin or a kind of job), so that a slow
 * lane does not delay the others (threats E11, R8). Entries of a lane get their slots in order, and lanes take turns.
 * With a total, a lane may take a slot only if as many others are still free, so every other lane finds a slot.
 */
export class Lanes {
  readonly #total: number;
  readonly #places: (lane: string) => number;
  readonly #queue: number;
  /** In the order in which lanes take turns. Empty lanes are removed. */
  readonly #lanes = new Map<string, Lane>();
  #active = 0;

  constructor({ total = Number.POSITIVE_INFINITY, perLane, waiting = Number.POSITIVE_INFINITY }: LaneLimits) {
    this.#total = total;
    this.#places = typeof perLane === 'number' ? () => perLane : perLane;
    this.#queue = waiting;
  }

  /** Whether an entry would get a slot immediately. */
  isFree(lane: string): boolean {
    return this.activeIn(lane) < Math.min(this.#places(lane), this.#total - this.#active);
  }

  activeIn(lane: string): number {
    return this.#lanes.get(lane)?.active ?? 0;
  }

  waitingIn(lane: string): number {
    return this.#lanes.get(lane)?.waiting.size ?? 0;
  }

  /** Takes a slot if one is free. */
  tryEnter(lane: string): Leave | undefined {
    if (!this.isFree(lane)) return undefined;
    this.#take(lane);
    return () => this.#leave(lane);
  }

  /**
   * Waits for a slot.
   *
   * @param signal ends the wait; the promise rejects with its reason
   * @throws LaneFullError if too many entries are already waiting
   */
  async enter(lane: string, signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    const leave = this.tryEnter(lane);
    if (leave) return leave;
    await this.#wait(lane, signal);
    return () => this.#leave(lane);
  }

  #wait(name: string, signal: AbortSignal | undefined): Promise<void> {
    const lane = this.#lane(name);
    if (lane.waiting.size >= this.#queue) throw new LaneFullError();
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        lane.waiting.delete(enter);
        this.#forget(name, lane);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      lane.waiting.add(enter);
    });
  }

  #lane(name: string): Lane {
    const lane = this.#lanes.get(name) ?? { active: 0, waiting: new Set() };
    this.#lanes.set(name, lane);
    return lane;
  }

  #take(name: string): void {
    this.#lane(name).active++;
    this.#active++;
  }

  #leave(name: string): void {
    const lane = this.#lane(name);
    lane.active--;
    this.#active--;
    this.#forget(name, lane);
    while (this.#admitNext(name));
  }

  #forget(name: string, lane: Lane): void {
    if (lane.active === 0 && lane.waiting.size === 0) this.#lanes.delete(name);
  }

  /**
   * Passes a free slot to the next waiting entry in the same event-loop turn, so that no later entry can take it first.
   */
  #admitNext(left: string): boolean {
    // Without a total, only entries of the same lane can use the slot.
    const lanes = this.#total === Number.POSITIVE_INFINITY ? [left] : this.#lanes.keys();
    for (const name of lanes) {
      const lane = this.#lanes.get(name);
      const [next] = lane?.waiting ?? [];
      if (!lane || next === undefined || !this.isFree(name)) continue;
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
      lane.waiting.delete(next);
      this.#take(name);
      next();
      return true;
    }
    return false;
  }
}
