import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { findPattern, findProvider } from './providers.ts';

/** Whether a connection belongs to a third-party MCP server. */
export async function isMcpConnection(
  read: ReadRepositories,
  catalogue: Catalogue,
  { environmentId, providerKey, type }: ConnectionRow,
): Promise<boolean> {
  const provider = await findProvider(read, catalogue, environmentId, providerKey);
  return provider !== undefined && findPattern(provider, type)?.is_mcp === true;
}
