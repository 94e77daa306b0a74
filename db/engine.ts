import type { DatabaseFiles } from './database-files.ts';
import type { SliceLimits } from './slices.ts';
import type { HealthWatch } from './storage-health.ts';
import type { Store } from './store.ts';

/**
 * A kind of database that can keep the data of a deployment. Nothing outside of the engine's folder depends on which one it is: an engine
 * implements this interface, makes the repositories of `repositories.ts` over its own `Connection`, and is added to `engineFor`.
 */
export interface Engine {
  /**
   * Opens the store, and creates the database where the engine can.
   *
   * @throws StorageError when the database is not usable, lacks data, or has a schema that this program cannot work with
   */
  open(options: StoreOptions): Promise<Store>;
  /**
   * Takes the right to serve the database. With an engine that serves several processes at a time each of them has it.
   *
   * @throws StorageError `DATABASE_IN_USE` when another server still has it after the time to wait
   */
  hold(location: string, terms?: HoldTerms): Promise<Hold>;
  /**
   * Brings the schema to the newest migration, for operators; null where `open` does it.
   *
   * @param now milliseconds UTC
   * @returns the names of the migrations that were applied
   * @throws StorageError
   */
  migrate: ((location: string, now: () => number) => Promise<string[]>) | null;
  /** Whether several processes may serve the database at a time. A start then makes nothing that another one could make as well. */
  isShared: boolean;
  /** For operators; null for a database that is not a file and has its own tools. */
  files: DatabaseFiles | null;
}

export interface StoreOptions {
  /** Where the database is: the path of a file, or the address of a server, `postgres://…`. */
  location: string;
  /** Milliseconds UTC. */
  now: () => number;
  /** How much of a list one statement reads (default LIST of core/budgets.ts). */
  listLimits?: SliceLimits | undefined;
  watch?: StoreWatch | undefined;
  /** For a database on a server. */
  connections?: ConnectionTerms | undefined;
}

export interface ConnectionTerms {
  /** The most connections of this process that read, and that write. */
  readers?: number | undefined;
  writers?: number | undefined;
  /** False where a connection pool in between does not support prepared statements. */
  prepare?: boolean | undefined;
}

export interface StoreWatch extends HealthWatch {
  /** Told of failures that no caller waits for. By default they are emitted as warnings of the process. */
  report?: ((error: unknown, what: string) => void) | undefined;
}

export interface HoldTerms {
  /** Is called once, when another server has the right. */
  onWait?: () => void;
  /** Milliseconds to wait for another server to end; 0 refuses immediately. */
  waitMs?: number;
}

/** The right to serve a database. */
export interface Hold {
  release(): Promise<void>;
}

/** The engine of a database. Only the one that is used is loaded. */
export async function engineFor(location: string): Promise<Engine> {
  if (/^postgres(ql)?:/.test(location)) return (await import('./postgres/engine.ts')).postgresEngine;
  const { sqliteEngine } = await import('./sqlite/engine.ts');
  return sqliteEngine;
}

/** Opens the store of a location with the engine of that location. @throws StorageError see `Engine.open` */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await engineFor(options.location);
  return await engine.open(options);
}
