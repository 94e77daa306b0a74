import type { DatabaseState } from '../../db/store.ts';

/** Whether the server can handle requests, and which database it uses. */
export interface Service {
  readiness(): Promise<{ database: boolean; keys: boolean }>;
  databaseState(): Promise<DatabaseState>;
}
