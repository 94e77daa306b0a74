import type { DatabaseState } from '../../db/store.ts';

export interface Readiness {
  /** Whether the database can be read and written. */
  database: boolean;
  /** Whether the encryption key can decrypt the stored data. */
  keys: boolean;
  /** Whether the server is about to stop. */
  ending?: boolean;
}

/** The functions that return whether the server can handle requests, and the state of its database. */
export interface Service {
  readiness(): Promise<Readiness>;
  databaseState(): Promise<DatabaseState>;
}
