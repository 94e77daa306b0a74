import { engineFor } from '../db/open-store.ts';
import type { DatabaseFiles } from '../db/store.ts';
import { type Config, databaseLocation, type Secrets } from '../http/config/config.ts';
import { UsageError } from './usage-error.ts';

/** Returns the operations on the database file. @throws UsageError if the database is not a file */
export async function databaseFiles(loaded: { config: Config; secrets: Secrets }): Promise<DatabaseFiles> {
  const { files } = await engineFor(databaseLocation(loaded.config, loaded.secrets));
  if (files === null) throw new UsageError('the database is not a file: back it up and restore it with its own tools');
  return files;
}
