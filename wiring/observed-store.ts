import { inSpan } from '../core/spans.ts';
import type { Store } from '../db/store.ts';
import type { Runtime } from './runtime.ts';

const facts = () => ({ name: 'commit', kind: 'internal' as const, attributes: {} });

/** Measures and traces the transactions of a store. The given store is changed and returned. */
export function observe(store: Store, metrics: Pick<Runtime['metrics'], 'commit'>): Store {
  const timed = async <T>(kind: 'write' | 'commit', run: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    let outcome = 'rolled_back';
    try {
      const result = await inSpan(facts, run);
      outcome = 'committed';
      return result;
    } finally {
      metrics.commit(kind, outcome, (performance.now() - startedAt) / 1000);
    }
  };
  const { write, commit } = store;
  return Object.assign(store, {
    write: ((unit, terms) => timed('write', () => write(unit, terms))) satisfies Store['write'],
    commit: ((unit) => timed('commit', () => commit(unit))) satisfies Store['commit'],
  });
}
