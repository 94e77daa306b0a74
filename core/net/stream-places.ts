import { EgressError } from './egress-error.ts';

/** The slot of one streamed response. */
export interface StreamPlace {
  /** Call it while the response waits for its reader. `end` ends the response if another call needs the slot. */
  wait(end: (error: EgressError) => void): void;
  /** Call it when the reader continues. */
  proceed(): void;
  /** Releases the slot. Call it once. */
  leave(): void;
}

interface Origin {
  open: number;
  /** The responses that wait for their readers; the one that has waited longest is first. */
  waiting: Map<StreamPlace, (error: EgressError) => void>;
}

/**
 * Limits the concurrent streamed responses of one origin (threat E11). A slow reader does not block others: if every
 * slot is taken, the response that has waited longest for its reader is ended.
 */
export class StreamPlaces {
  readonly #origins = new Map<string, Origin>();
  readonly #places: number;

  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Takes a slot, before anything is sent.
   *
   * @throws EgressError `unreachable` if every slot is taken and no response is waiting for its reader
   */
  enter(name: string): StreamPlace {
    const origin = this.#origins.get(name) ?? { open: 0, waiting: new Map() };
    if (origin.open >= this.#places) endLongest(origin);
    this.#origins.set(name, origin);
    origin.open++;
    const place: StreamPlace = {
      wait: (end) => void origin.waiting.set(place, end),
      proceed: () => void origin.waiting.delete(place),
      leave: () => {
        origin.waiting.delete(place);
        origin.open--;
        if (origin.open === 0) this.#origins.delete(name);
      },
    };
    return place;
  }
}

function endLongest({ waiting }: Origin): void {
  const [longest] = waiting;
  if (longest === undefined)
    throw new EgressError('unreachable', 'Too many responses of this host are being received.');
  const [place, end] = longest;
  waiting.delete(place);
  end(
    new EgressError('aborted', 'The response was not read in time, so its connection was given to another call.', {
      sent: true,
    }),
  );
}
