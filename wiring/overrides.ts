import type { EventSink } from '../core/events/sink.ts';
import type { Parts } from './parts.ts';

/** The parts that tests replace. */
type Replaceable = Pick<
  Parts,
  // Without other parts
  | 'now'
  | 'random'
  | 'wait'
  | 'newId'
  | 'startTimer'
  | 'log'
  | 'metrics'
  | 'bodies'
  | 'threads'
  // Storage and keys
  | 'store'
  | 'scrubStorage'
  | 'vault'
  // Outbound calls and MCP servers
  | 'egressOf'
  | 'upstreamSessions'
  | 'syncTurns'
  // Tools and accounts
  | 'catalogue'
  | 'toolDirectory'
  | 'responses'
  | 'freshen'
  | 'ensureFresh'
  | 'refreshNow'
  // Background work and requests
  | 'jobs'
  | 'environmentOf'
  | 'readiness'
  | 'onResponse'
>;

/** A part that is made from the one of the server. */
class Wrapped<T> {
  readonly around: (made: T) => T;

  constructor(around: (made: T) => T) {
    this.around = around;
  }
}

/** Replaces a part of the server by one that is made from it. */
export function wrap<T>(around: (made: T) => T): Wrapped<T> {
  return new Wrapped(around);
}

/** Parts to use instead of those of the server. Every part that is built later uses the replacement. */
export type Overrides = { [Name in keyof Replaceable]?: Replaceable[Name] | Wrapped<Replaceable[Name]> } & {
  /** More sinks of events, after those of the server. */
  eventSinks?: readonly EventSink[];
};

/** Returns the part that is used: the one that `make` returns, unless it is overridden. */
export type Choose = <Name extends keyof Replaceable>(name: Name, make: () => Replaceable[Name]) => Replaceable[Name];

/** Applies overrides where parts are made. */
export function choosing(overrides: Overrides): Choose {
  return (name, make) => {
    const override: unknown = overrides[name];
    if (override instanceof Wrapped) return override.around(make());
    return override === undefined ? make() : (override as ReturnType<typeof make>);
  };
}
