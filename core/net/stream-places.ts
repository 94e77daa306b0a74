import { EgressError } from './egress-error.ts';

/** The place of one response that is handed on as it arrives. */
export interface StreamPlace {
  /** The response waits for its reader from now on; `end` ends it if another call needs the place. */
  wait(end: (error: EgressError) => void): void;
  /** The reader takes more. */
  proceed(): void;
  /** Gives the place back; to be called once. */
  leave(): void;
}

interface Origin {
  open: number;
  /** The responses that wait for their readers; the one that has waited longest comes first. */
  waiting: Map<StreamPlace, (error: EgressError) => void>;
}

/**
 * Limits the responses that arrive concurrently from one origin (threat E11). A slow reader does not block others: if every place
 * is taken, the response that has waited longest for its reader is ended.
 */
export class StreamPlaces {
  readonly #origins = new Map<string, Origin>();
  readonly #places: number;

  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Takes a place, before anything is sent.
   *
   * @throws EgressError `unreachable` when every place is taken and every response arrives
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
    new EgressError('aborted', 'The response was not read in time, and its place was given to another call.', {
      sent: true,
    }),
  );
}
