import { EgressError } from './egress-error.ts';

/** The slot of one streamed response. */
export interface StreamSlot {
  /** Call it when the response begins to wait for its reader. `end` is called if another call needs the slot. */
  wait(end: (error: EgressError) => void): void;
  /** Call it when the reader continues. */
  proceed(): void;
  /** Releases the slot. Call it once. */
  leave(): void;
}

interface Origin {
  open: number;
  /** The responses that wait for their readers; the one that has waited longest is first. */
  waiting: Map<StreamSlot, (error: EgressError) => void>;
}

/**
 * Limits the concurrent streamed responses of each origin (threat E11). A slow reader does not block others: if a call
 * needs a slot and every slot is taken, the response that has waited longest for its reader is ended.
 */
export class StreamSlots {
  readonly #origins = new Map<string, Origin>();
  readonly #slots: number;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Takes a slot. Call it before the request is sent.
   *
   * @param name the origin
   * @throws EgressError `unreachable` if every slot is taken and no response is waiting for its reader
   */
  enter(name: string): StreamSlot {
    const origin = this.#origins.get(name) ?? { open: 0, waiting: new Map() };
    if (origin.open >= this.#slots) endLongest(origin, this.#slots);
    this.#origins.set(name, origin);
    origin.open++;
    const slot: StreamSlot = {
      wait: (end) => void origin.waiting.set(slot, end),
      proceed: () => void origin.waiting.delete(slot),
      leave: () => {
        origin.waiting.delete(slot);
        origin.open--;
        if (origin.open === 0) this.#origins.delete(name);
      },
    };
    return slot;
  }
}

function endLongest({ waiting }: Origin, slots: number): void {
  const [longest] = waiting;
  if (longest === undefined)
    throw new EgressError(
      'unreachable',
      `Too many responses of this host are already being received (at most ${slots}). Try again later.`,
    );
  const [slot, end] = longest;
  waiting.delete(slot);
  const reason = `It was read too slowly, and another call needed one of the ${slots} connections of its host.`;
  const advice = 'Read responses faster, or make fewer calls at the same time.';
  end(new EgressError('aborted', `The response was ended. ${reason} ${advice}`, { sent: true }));
}
