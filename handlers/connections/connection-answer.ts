import type { Connections } from '../../core/capabilities/connections.ts';
import { findPattern, findProvider } from '../../core/connections/providers.ts';
import { ApiError } from '../../core/errors.ts';
import { presentConfiguration } from '../../core/present/connection.ts';
import type { ConnectionRow, EnvironmentId, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import type { Schemas } from '../../http/contract.ts';

/** A connection with its settings, as every operation on one connection answers it. */
export async function connectionAnswer(
  read: ReadRepositories,
  row: ConnectionRow,
  environment: EnvironmentRow,
  connections: Connections,
): Promise<Schemas['ConnectionConfiguration']> {
  const provider = await findProvider(read, connections.catalogue, row.environmentId, row.providerKey);
  const vendor = connections.catalogue.connector(row.providerKey)?.vendor;
  const pattern = provider && findPattern(provider, row.type);
  return presentConfiguration(row, vendor, provider && pattern && { provider, pattern }, environment);
}

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
