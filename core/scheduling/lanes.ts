export interface LaneLimits {
  /**
   * The maximum number of entries that run concurrently in all lanes together. If omitted, only `perLane` limits them.
   */
  total?: number;
  /** The maximum number of entries that run concurrently in one lane. */
  perLane: number | ((lane: string) => number);
  /** Limits how many entries of one lane wait for a slot. If omitted, any number may wait. */
  waiting?: WaitingLimit;
}

export interface WaitingLimit {
  /** The maximum number of entries. */
  limit: number;
  /** Returns the error for an entry that exceeds the limit. */
  full(lane: string): Error;
}

interface Lane {
  readonly name: string;
  active: number;
  waiting: Set<() => void>;
}

/** Releases a slot. Call it once. */
export type ReleaseSlot = () => void;

/**
 * Limits how many entries (for example calls) run concurrently, in total and per lane. A lane is a group of entries,
 * for example the calls to one origin. The limit per lane keeps a slow lane from delaying the others (threats E11, R8).
 * Each running entry occupies a slot. Entries of a lane get their slots in order, and lanes take turns. With a total, a
 * lane may take a slot only if more slots are free than the lane already has, so that a busy lane leaves slots to the
 * others.
 */
export class Lanes {
  readonly #total: number;
  readonly #places: (lane: string) => number;
  readonly #waiting: WaitingLimit | undefined;
  /** In the order in which lanes take turns. Empty lanes are removed. */
  readonly #lanes = new Map<string, Lane>();
  #active = 0;

  constructor({ total = Number.POSITIVE_INFINITY, perLane, waiting }: LaneLimits) {
    this.#total = total;
    this.#places = typeof perLane === 'number' ? () => perLane : perLane;
    this.#waiting = waiting;
  }

  /** Whether an entry would get a slot immediately. */
  isFree(name: string): boolean {
    return this.#hasFreePlace(name, this.#lanes.get(name));
  }

  activeIn(name: string): number {
    return this.#lanes.get(name)?.active ?? 0;
  }

  waitingIn(name: string): number {
    return this.#lanes.get(name)?.waiting.size ?? 0;
  }

  /** Lists the lanes that are in use. */
  state(): { name: string; active: number; waiting: number }[] {
    return [...this.#lanes.values()].map(({ name, active, waiting }) => ({ name, active, waiting: waiting.size }));
  }

  /** Takes a slot if one is free; otherwise returns undefined. */
  tryEnter(name: string): ReleaseSlot | undefined {
    const lane = this.#lanes.get(name);
    return this.#hasFreePlace(name, lane) ? this.#take(lane ?? this.#open(name)) : undefined;
  }

  /**
   * Takes a slot, or waits for one. If a slot is free, which is the usual case, the result is not a promise, to save
   * the cost of one.
   *
   * @param signal ends the wait; the promise rejects with its reason
   * @throws the reason of a signal that is already aborted; the `full` error of the limits if too many entries are
   * waiting
   */
  enter(name: string, signal?: AbortSignal): ReleaseSlot | Promise<ReleaseSlot> {
    signal?.throwIfAborted();
    return this.tryEnter(name) ?? this.#wait(name, signal);
  }

  #wait(name: string, signal: AbortSignal | undefined): Promise<ReleaseSlot> {
    if (this.#waiting && this.waitingIn(name) >= this.#waiting.limit) throw this.#waiting.full(name);
    const lane = this.#lanes.get(name) ?? this.#open(name);
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(this.#take(lane));
      };
      const giveUp = () => {
        lane.waiting.delete(enter);
        this.#forget(lane);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      lane.waiting.add(enter);
    });
  }

  #hasFreePlace(name: string, lane: Lane | undefined): boolean {
    return (lane?.active ?? 0) < Math.min(this.#places(name), this.#total - this.#active);
  }

  #open(name: string): Lane {
    const lane = { name, active: 0, waiting: new Set<() => void>() };
    this.#lanes.set(name, lane);
    return lane;
  }

  #take(lane: Lane): ReleaseSlot {
    lane.active++;
    this.#active++;
    return () => this.#leave(lane);
  }

  #leave(lane: Lane): void {
    lane.active--;
    this.#active--;
    // Without a total, only entries of the same lane can use the slot.
    if (this.#total === Number.POSITIVE_INFINITY) while (this.#admit(lane));
    else while (this.#admitNext());
    this.#forget(lane);
  }

  #forget(lane: Lane): void {
    if (lane.active === 0 && lane.waiting.size === 0) this.#lanes.delete(lane.name);
  }

  #admitNext(): boolean {
    for (const lane of this.#lanes.values()) {
      if (!this.#admit(lane)) continue;
      this.#lanes.delete(lane.name);
      this.#lanes.set(lane.name, lane);
      return true;
    }
    return false;
  }

  /** Passes a slot to the next waiting entry in the same event-loop turn, so that no later entry can take it first. */
  #admit(lane: Lane): boolean {
    if (lane.waiting.size === 0 || !this.#hasFreePlace(lane.name, lane)) return false;
    const [next] = lane.waiting;
    lane.waiting.delete(next as () => void);
    next?.();
    return true;
  }
}
