import type { ConnectionRow, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { presentConfiguration } from '../present/connection.ts';
import type { Schemas } from '../present/schemas.ts';
import { findPattern, findProvider } from './providers.ts';

/** Returns a connection with its settings, as operations on a single connection return it. */
export async function describeConnection(
  read: ReadRepositories,
  row: ConnectionRow,
  environment: EnvironmentRow,
  catalogue: Catalogue,
): Promise<Schemas['ConnectionConfiguration']> {
  const provider = await findProvider(read, catalogue, row.environmentId, row.providerKey);
  const vendor = catalogue.connector(row.providerKey)?.vendor;
  const pattern = provider && findPattern(provider, row.type);
  return presentConfiguration(row, vendor, provider && pattern && { provider, pattern }, environment);
}
