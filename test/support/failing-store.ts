import type { Store } from '../../db/store.ts';

/** Where the storage fails: when it reads the client, which every request needs; in other reads; or in writes. */
export type FaultPlace = 'client' | 'read' | 'write';

export interface FaultSwitch {
  place: FaultPlace | undefined;
  /** Creates a new error for each failure. */
  error(): Error;
}

/** The reads that find the environment of a host. They are cached, so they would fail only sometimes. */
const HOST_READS = new Set(['environments.byHost', 'environments.list']);

/** Returns the same store, whose functions reject while a fault is switched on for their place. */
export function failingStore(store: Store, fault: FaultSwitch): Store {
  const failsAt = (place: FaultPlace) => fault.place === place;
  return {
    ...store,
    read: mapFunctions(store.read, (repository, name, call) => {
      if (HOST_READS.has(`${repository}.${name}`)) return call;
      const place = repository === 'apiClients' && name === 'state' ? 'client' : 'read';
      return (...args) => (failsAt(place) ? Promise.reject(fault.error()) : call(...args));
    }),
    write: (unit, terms) => (failsAt('write') ? Promise.reject(fault.error()) : store.write(unit, terms)),
    commit: (unit) => (failsAt('write') ? Promise.reject(fault.error()) : store.commit(unit)),
  };
}

/** Returns the same store, which also records each read and each write. */
export function recordingStore(store: Store, record: (call: string) => void): Store {
  const recorded = <T>(call: string, value: T): T => {
    record(call);
    return value;
  };
  return {
    ...store,
    read: mapFunctions(store.read, (repository, name, call) => (...args) => {
      record(`${repository}.${name}`);
      return call(...args);
    }),
    write: (unit, terms) => recorded('write', store.write(unit, terms)),
    commit: (unit) => recorded('commit', store.commit(unit)),
    note: (unit) => recorded('note', store.note(unit)),
  };
}

type Call = (...args: unknown[]) => Promise<unknown>;

function mapFunctions<T extends object>(
  repositories: T,
  wrap: (repository: string, name: string, call: Call) => Call,
): T {
  const wrapped = Object.entries(repositories).map(([repository, functions]) => {
    const entries = Object.entries(functions as Record<string, Call>);
    return [repository, Object.fromEntries(entries.map(([name, call]) => [name, wrap(repository, name, call)]))];
  });
  return Object.fromEntries(wrapped) as T;
}
