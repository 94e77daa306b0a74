import type { ReadRepositories } from '../../repositories.ts';
import { createSqliteRepositories } from '../repositories.ts';
import { openBackup } from './verify.ts';

/** Opens a backup for reading its rows. */
export function readBackup(path: string): { read: ReadRepositories; close(): void } {
  const client = openBackup(path);
  return { read: createSqliteRepositories(client).repositories, close: () => client.close() };
}
