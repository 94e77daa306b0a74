import type { AccountRow, ConnectionRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import { toolFits } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { Tool } from '../tools/tool.ts';
import type { KnownTool } from './directory.ts';
import { type Readiness, type Standing, standingOf, type UserName } from './readiness.ts';
import { accountsOf, type DiscoveryTools, isAllowed, type Reach, reachOf } from './user-tools.ts';

/** A tool that was found, and how the user stands to it. */
export interface FoundTool extends KnownTool, Standing {
  /** What to call `connector` when the tool is run or connected. */
  connector: string;
}

export interface ToolQuestion {
  query: string;
  /** Tools of this provider only. */
  connector?: string | undefined;
  limit: number;
}

/** How many hits are looked at to find those that the environment allows. */
const LOOK_AT = 4;

/**
 * Finds tools for a task in natural language, the best first, with how a user stands to each: over the connection by which the
 * user is closest to calling it.
 */
export async function findTools(
  read: ReadRepositories,
  tools: DiscoveryTools,
  environmentId: EnvironmentId,
  user: UserName,
  { query, connector, limit }: ToolQuestion,
): Promise<FoundTool[]> {
  const hits = await tools.toolDirectory.search(read, environmentId, query, { connector });
  if (hits.length === 0) return [];
  const accounts = await accountsOf(read, environmentId, user);
  const connections = await read.connections.listAll(environmentId);
  const reaches = await Promise.all(connections.map((connection) => reachOf(read, tools, environmentId, connection)));
  const usable = reaches.filter((reach) => reach !== undefined);
  const found: FoundTool[] = [];
  for (const { card } of hits.slice(0, limit * LOOK_AT)) {
    if (found.length === limit) break;
    const known = await tools.toolDirectory.find(read, environmentId, card.name);
    if (!known) continue;
    const own = connections.filter(({ providerKey }) => providerKey === known.tool.connector);
    const allowing = usable.filter(
      ({ provider, connection }) => toolFits(known.tool, provider) && isAllowed(known, connection),
    );
    if (allowing.length === 0) {
      // Connections that forbid the tool or are switched off are an operator's decision; without any, one can be made.
      const provider =
        own.length === 0 ? await findProvider(read, tools.catalogue, environmentId, known.tool.connector) : undefined;
      if (!provider) continue;
      found.push({ ...known, ...standingOf(known.tool, provider, null, [], user), connector: provider.identifier });
      continue;
    }
    found.push({ ...known, ...closest(known.tool, allowing, accounts, user) });
  }
  return found;
}

const ORDER: readonly Readiness[] = ['READY', 'NEEDS_REAUTH', 'NEEDS_CONNECTION'];

/** The best standing over some connections; among equals one of the tool's own provider that lacks nothing, then by name. */
function closest(
  tool: Tool,
  reaches: readonly Reach[],
  accounts: ReadonlyMap<string, AccountRow[]>,
  user: UserName,
): Standing & { connector: string } {
  const standings = reaches.map(({ connection, provider }) => ({
    ...standingOf(tool, provider, connection, accounts.get(connection.id) ?? [], user),
    connector: connection.keyId,
    preference: preferenceOf(tool, connection, provider),
  }));
  standings.sort(
    (a, b) =>
      ORDER.indexOf(a.readiness) - ORDER.indexOf(b.readiness) ||
      a.preference - b.preference ||
      (a.connector < b.connector ? -1 : 1),
  );
  const [{ preference: _preference, ...best }] = standings as [(typeof standings)[number], ...unknown[]];
  return best;
}

function preferenceOf(tool: Tool, connection: ConnectionRow, provider: ProviderDefinition): number {
  return (provider.identifier === tool.connector ? 0 : 2) + (connection.status === 'DRAFT' ? 1 : 0);
}
