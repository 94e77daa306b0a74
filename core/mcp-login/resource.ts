import type { EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { isHostOf } from '../environments/hosts.ts';
import { findServer, MCP_PATH, type McpServerDefinition } from '../mcp/server-definition.ts';

const SERVER_PATH = new RegExp(`^${MCP_PATH}/([A-Za-z0-9_-]{1,100})$`);

/**
 * Finds the MCP server of a resource indicator (RFC 8707 §2). All host names of the environment are accepted, because
 * clients send the address that their user entered.
 *
 * @returns undefined if the resource is not the address of an MCP server of the environment
 */
export async function serverOfResource(
  read: ReadRepositories,
  environment: EnvironmentRow,
  resource: string,
): Promise<McpServerDefinition | undefined> {
  const url = URL.parse(resource);
  if (!url || url.username || url.password || url.search || resource.includes('#')) return undefined;
  const id = SERVER_PATH.exec(url.pathname)?.[1];
  if (id === undefined || !isAddressOf(environment, url)) return undefined;
  return findServer(read, environment.id, id);
}

/**
 * Whether a URL has the host of an environment. All host names of an environment have the scheme and port of its base
 * URL, except loopback names in development: these may have any port, with http or https.
 */
function isAddressOf(environment: EnvironmentRow, url: URL): boolean {
  const base = new URL(environment.baseUrl);
  if (url.origin === base.origin) return true;
  const known = isHostOf(environment, url.hostname);
  if (known === 'loopback') return url.protocol === 'http:' || url.protocol === 'https:';
  return known === 'listed' && url.protocol === base.protocol && url.port === base.port;
}
