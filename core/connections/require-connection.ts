import type { ConnectionRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { ApiError } from '../errors.ts';

/** @throws ApiError NOT_FOUND */
export async function requireConnection(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
): Promise<ConnectionRow> {
  const row = await read.connections.get(environmentId, id);
  if (!row) throw new ApiError('NOT_FOUND', 'The connection does not exist.');
  return row;
}
