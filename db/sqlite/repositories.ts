import { joinEndings } from '../ending.ts';
import type { StorageError } from '../errors.ts';
import { createRepositories, type RepositoryOptions } from '../repositories.ts';
import { newestMigration } from './migrate.ts';
import type { Client } from './open.ts';
import { createSearchIndex } from './search-index.ts';
import { createSqliteStatements } from './statements.ts';

export interface SqliteRepositoryOptions extends Pick<RepositoryOptions, 'pacing' | 'planChanges'> {
  /** Called with each StorageError. */
  failed?: (error: StorageError) => void;
}

/**
 * Creates the repositories of one connection, and their endings.
 *
 * @param client the connection, or a function that returns the one to use now
 */
export function createSqliteRepositories(
  client: Client | (() => Client),
  { pacing, planChanges, failed }: SqliteRepositoryOptions = {},
) {
  const statements = createSqliteStatements(typeof client === 'function' ? client : () => client, failed);
  const searchIndex = createSearchIndex(statements);
  const { repositories, ending } = createRepositories(statements, {
    ...(pacing && { pacing }),
    ...(planChanges && { planChanges }),
    accountInserted: searchIndex.add,
    schemaNumber: newestMigration(),
  });
  return { repositories, ending: joinEndings([searchIndex.ending, ending]) };
}
