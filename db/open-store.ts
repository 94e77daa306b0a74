import type { Engine, StoreOptions } from './engine.ts';
import type { Store } from './store.ts';

/** Returns the engine of a database. Other engines are not loaded. */
export async function engineFor(location: string): Promise<Engine> {
  if (/^postgres(ql)?:\/\//.test(location)) return (await import('./postgres/engine.ts')).postgresEngine;
  const { sqliteEngine } = await import('./sqlite/engine.ts');
  return sqliteEngine;
}

/** Opens the store at a location with its engine. @throws StorageError see `Engine.open` */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await engineFor(options.location);
  return await engine.open(options);
}
