import type { ConnectionRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { requireFound } from '../errors.ts';

/** @throws ApiError NOT_FOUND */
export async function requireConnection(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
): Promise<ConnectionRow> {
  return requireFound(await read.connections.get(environmentId, id), 'The connection');
}
