import { joinEndings } from '../ending.ts';
import type { StorageError } from '../errors.ts';
import { createRepositories, type RepositoryOptions } from '../repositories.ts';
import type { Client } from './open.ts';
import { createSearchIndex } from './search-index.ts';
import { createSqliteStatements } from './statements.ts';

export interface SqliteRepositoryOptions extends Pick<RepositoryOptions, 'pacing'> {
  /** Told of each StorageError. */
  failed?: (error: StorageError) => void;
}

/** The repositories over one connection, with what they leave to the end of a transaction. */
export function createSqliteRepositories(client: Client, { pacing, failed }: SqliteRepositoryOptions = {}) {
  const statements = createSqliteStatements(client, failed);
  const searchIndex = createSearchIndex(statements);
  const { repositories, ending } = createRepositories(statements, {
    ...(pacing && { pacing }),
    accountInserted: searchIndex.add,
  });
  return { repositories, ending: joinEndings([searchIndex.ending, ending]) };
}
