import type { ReadRepositories } from '../../repositories.ts';
import { createSqliteRepositories } from '../repositories.ts';
import { openBackup } from './verify.ts';

/** The rows of a backup, for reading. */
export function readBackup(path: string): { read: ReadRepositories; close(): void } {
  const client = openBackup(path);
  return { read: createSqliteRepositories(client).repositories, close: () => client.close() };
}
