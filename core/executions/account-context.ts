import type { AccountRow, ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';

/**
 * The data that determines which operation can make an account usable: the provider's authorization pattern and the
 * connection.
 */
export interface AccountContext {
  /** undefined if the provider was deleted, or no longer offers the type of the account. */
  pattern: AuthPattern | undefined;
  connection: ConnectionRow;
}

export async function accountContextOf(
  read: ReadRepositories,
  catalogue: Catalogue,
  { environmentId, connectionId, provider: identifier, authorizationType }: AccountRow,
): Promise<AccountContext> {
  const provider = await findProvider(read, catalogue, environmentId, identifier);
  const connection = (await read.connections.get(environmentId, connectionId)) as ConnectionRow;
  return { pattern: provider && findPattern(provider, authorizationType), connection };
}
