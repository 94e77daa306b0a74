import type { EventSink } from '../core/events/sink.ts';
import type { Parts } from './parts.ts';

/** The parts that tests replace. */
type Replaceable = Pick<
  Parts,
  // Parts that depend on no other part
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

/** A replacement that is created from the original part. */
class Wrapped<T> {
  readonly around: (made: T) => T;

  constructor(around: (made: T) => T) {
    this.around = around;
  }
}

/** Replaces a part of the server with one that is created from it. */
export function wrap<T>(around: (made: T) => T): Wrapped<T> {
  return new Wrapped(around);
}

/** Replacements for parts of the server. Every part that is created later uses the replacement. */
export type Overrides = { [Name in keyof Replaceable]?: Replaceable[Name] | Wrapped<Replaceable[Name]> } & {
  /** More sinks of events, after those of the server. */
  eventSinks?: readonly EventSink[];
};

/** Returns the override of a part; without one, the part that `make` creates. */
export type Choose = <Name extends keyof Replaceable>(name: Name, make: () => Replaceable[Name]) => Replaceable[Name];

/** Applies overrides where parts are created. */
export function choosing(overrides: Overrides): Choose {
  return (name, make) => {
    const override: unknown = overrides[name];
    if (override instanceof Wrapped) return override.around(make());
    return override === undefined ? make() : (override as ReturnType<typeof make>);
  };
}
