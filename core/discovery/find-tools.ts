import type { AccountRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import { toolFits } from '../connectors/catalogue.ts';
import { createTurns } from '../scheduling/turns.ts';
import type { Tool } from '../tools/tool.ts';
import type { KnownTool } from './directory.ts';
import { sizeOfTool } from './read-within.ts';
import { type Readiness, readinessFor, type ToolReadiness, type UserName } from './readiness.ts';
import { accountsOf, type DiscoveryDeps, isAllowed, type Reach, reachesOf } from './user-tools.ts';

/** A tool that was found. */
export interface FoundTool extends KnownTool {
  /**
   * The value of `connector` in requests that run the tool or connect an account for it: the key of the best
   * connection, or the provider's identifier if the provider has no connection.
   */
  connector: string;
  /** Whether the user can call the tool, and what to do otherwise; null if the search names no user. */
  toolReadiness: ToolReadiness | null;
}

export interface ToolQuery {
  query: string;
  /** Tools of this provider only. */
  connector?: string | undefined;
  limit: number;
}

/** The search reads this many hits per requested result, because the environment may not allow some of them. */
const CANDIDATES_PER_RESULT = 4;

/**
 * Finds tools for a task in natural language, best first. If a user is named, each hit contains the readiness of the
 * connection over which the user is closest to calling the tool.
 *
 * @param user null to search without accounts
 */
export async function findTools(
  read: ReadRepositories,
  deps: DiscoveryDeps,
  environmentId: EnvironmentId,
  user: UserName | null,
  { query, connector, limit }: ToolQuery,
): Promise<FoundTool[]> {
  const hits = await deps.toolDirectory.search(read, environmentId, query, { connector });
  if (hits.length === 0) return [];
  const accounts = user ? await accountsOf(read, environmentId, user) : new Map<string, AccountRow[]>();
  const candidates = hits.slice(0, limit * CANDIDATES_PER_RESULT);
  const isGeneric = candidates.some(({ card }) => card.generic);
  const providerKeys = [...new Set(candidates.map(({ card }) => card.connector))];
  // Generic tools can be called over the connections of all custom providers.
  const connections = await read.connections.listAll(environmentId, isGeneric ? {} : { providerKeys });
  const usable = await reachesOf(read, deps, environmentId, connections);
  const found: FoundTool[] = [];
  const turn = createTurns();
  for (const { card } of candidates) {
    if (found.length === limit) break;
    const known = await deps.toolDirectory.find(read, environmentId, card.name);
    if (!known) continue;
    await turn(sizeOfTool(known.tool));
    const own = connections.filter(({ providerKey }) => providerKey === known.tool.connector);
    const allowing = usable.filter(
      ({ provider, connection }) => toolFits(known.tool, provider) && isAllowed(known, connection),
    );
    if (allowing.length === 0) {
      // If connections exist but none is enabled and allows the tool, an operator has decided so, and the hit is
      // skipped. If the provider has no connection, the hit is kept, because a connection can be created.
      const provider =
        own.length === 0 ? await findProvider(read, deps.catalogue, environmentId, known.tool.connector) : undefined;
      if (!provider) continue;
      const toolReadiness = user && readinessFor(known.tool, provider, null, [], user);
      found.push({ ...known, toolReadiness, connector: provider.identifier });
      continue;
    }
    found.push({ ...known, ...closest(known.tool, allowing, accounts, user) });
  }
  return found;
}

const LAST = 'NEEDS_CONNECTION';
const ORDER: readonly Readiness[] = ['READY', 'NEEDS_REAUTH', LAST];

/**
 * Returns the connection over which the user is closest to calling the tool. Among equally close ones, connections of
 * the tool's own provider take precedence, then connections that are not drafts, then the alphabetical order of keys.
 */
function closest(
  tool: Tool,
  reaches: readonly Reach[],
  accounts: ReadonlyMap<string, AccountRow[]>,
  user: UserName | null,
): Pick<FoundTool, 'toolReadiness' | 'connector'> {
  const readinessAt = ({ connection, provider }: Reach) =>
    user && readinessFor(tool, provider, connection, accounts.get(connection.id) ?? [], user);
  // If the user has no account of a connection, the readiness is always NEEDS_CONNECTION. It is not computed, because
  // an environment can have thousands of such connections.
  const rankOf = (reach: Reach) =>
    ORDER.indexOf((accounts.has(reach.connection.id) && readinessAt(reach)?.readiness) || LAST);
  const ranked = reaches.map((reach) => ({ reach, rank: rankOf(reach), preference: preferenceOf(tool, reach) }));
  const { reach } = ranked.reduce((best, other) => (isBefore(other, best) ? other : best));
  return { toolReadiness: readinessAt(reach), connector: reach.connection.keyId };
}

interface Ranked {
  reach: Reach;
  rank: number;
  preference: number;
}

function isBefore(a: Ranked, b: Ranked): boolean {
  const difference = a.rank - b.rank || a.preference - b.preference;
  return difference < 0 || (difference === 0 && a.reach.connection.keyId < b.reach.connection.keyId);
}

function preferenceOf(tool: Tool, { connection, provider }: Reach): number {
  return (provider.identifier === tool.connector ? 0 : 2) + (connection.status === 'DRAFT' ? 1 : 0);
}
