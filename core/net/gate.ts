import { EgressError } from './egress-error.ts';

/** Limits how many operations run concurrently, and how many may wait; first come, first served. */
export class Gate {
  readonly #places: number;
  readonly #queue: number;
  readonly #refusal: string;
  readonly #waiting = new Set<() => void>();
  #active = 0;

  /** @param refusal a public sentence, for callers that find the queue full */
  constructor(places: number, queue: number, refusal: string) {
    this.#places = places;
    this.#queue = queue;
    this.#refusal = refusal;
  }

  /** True while no operation runs. */
  get isEmpty(): boolean {
    return this.#active === 0;
  }

  /**
   * Waits for a place.
   *
   * @param signal its reason, an EgressError, ends the wait
   * @returns the function that gives the place back, to be called once
   * @throws EgressError `unreachable` when the queue is full
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#active < this.#places) this.#active++;
    else await this.#wait(signal);
    return () => this.#leave();
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#queue) throw new EgressError('unreachable', this.#refusal);
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(enter);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#active--;
      return;
    }
    // The place passes on directly, so that no newcomer slips in between.
    this.#waiting.delete(next);
    next();
  }
}

/** A gate for each origin: a host that hangs takes its own places alone (threat E11). */
export class OriginGate {
  readonly #gates = new Map<string, Gate>();
  readonly #places: number;
  readonly #queue: number;

  constructor(places: number, queue: number) {
    this.#places = places;
    this.#queue = queue;
  }

  /** `Gate.enter` for one origin. */
  async enter(origin: string, signal: AbortSignal): Promise<() => void> {
    const gate = this.#gates.get(origin) ?? this.#open(origin);
    const leave = await gate.enter(signal);
    return () => {
      leave();
      if (gate.isEmpty) this.#gates.delete(origin);
    };
  }

  #open(origin: string): Gate {
    const gate = new Gate(this.#places, this.#queue, 'Too many calls to this host are already waiting.');
    this.#gates.set(origin, gate);
    return gate;
  }
}
