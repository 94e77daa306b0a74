import { EgressError } from './egress-error.ts';

interface Origin {
  active: number;
  waiting: Set<() => void>;
}

/** Bounds the calls under way to each origin, and the calls that wait for one of those places, first come first served. */
export class OriginGate {
  readonly #origins = new Map<string, Origin>();
  readonly #places: number;
  readonly #queue: number;

  constructor(places: number, queue: number) {
    this.#places = places;
    this.#queue = queue;
  }

  /**
   * Waits for a place.
   *
   * @param signal its reason, an EgressError, ends the wait
   * @returns the function that gives the place back, to be called once
   * @throws EgressError `unreachable` when the queue is full
   */
  async enter(origin: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const state = this.#origins.get(origin) ?? { active: 0, waiting: new Set() };
    this.#origins.set(origin, state);
    if (state.active < this.#places) state.active++;
    else await this.#wait(state, signal);
    return () => this.#leave(origin, state);
  }

  #wait(state: Origin, signal: AbortSignal): Promise<void> {
    if (state.waiting.size >= this.#queue) {
      throw new EgressError('unreachable', 'Too many calls to this host are waiting already.');
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        state.waiting.delete(resolve);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      state.waiting.add(resolve);
    });
  }

  #leave(origin: string, state: Origin): void {
    const [next] = state.waiting;
    if (next !== undefined) {
      // The place passes on directly, so that no newcomer slips in between.
      state.waiting.delete(next);
      next();
    } else if (--state.active === 0) {
      this.#origins.delete(origin);
    }
  }
}
