/**
 * Finds the tools that a user can call over the connections of the user's accounts. Disabled connections are skipped,
 * and so are tools that a connection does not allow, that an overlay (an environment's changes to a tool) hides, or
 * that wait for a review. Nothing is decrypted or sent.
 */
import type { AccountRow, ConnectionRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { accountsOfUser } from '../accounts/of-user.ts';
import { findProvider } from '../connections/providers.ts';
import { type Catalogue, toolFits } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ownNameOf } from '../tools/tool.ts';
import { chooseTools } from './choose-tools.ts';
import type { KnownTool, ToolDirectory } from './directory.ts';
import { missingScopes, type UserName } from './readiness.ts';
import type { ToolCard } from './tool-index.ts';
import { toolUses } from './tool-uses.ts';

export interface DiscoveryDeps {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
}

export interface CallableTool {
  tool: ToolCard;
  /** The accounts that can run the tool now, oldest first. */
  accounts: readonly AccountRow[];
}

/** An enabled connection with its provider. */
export interface Reach {
  connection: ConnectionRow;
  provider: ProviderDefinition;
}

/** The maximum number of accounts of one user that are read, newest first. */
const MAX_ACCOUNTS = 200;

/**
 * Returns the tools that the active accounts of a user can call now with their granted scopes, sorted by name.
 *
 * @param most the maximum number of tools of each connection; if there are more, `chooseTools` chooses them
 */
export async function callableTools(
  read: ReadRepositories,
  deps: DiscoveryDeps,
  environmentId: EnvironmentId,
  user: UserName,
  most = Number.POSITIVE_INFINITY,
): Promise<CallableTool[]> {
  const callable = new Map<string, CallableTool>();
  for (const [connectionId, all] of await accountsOf(read, environmentId, user)) {
    const active = all.filter(({ status }) => status === 'ACTIVE');
    const connection = active.length > 0 && (await read.connections.get(environmentId, connectionId));
    const reach = connection && (await reachOf(read, deps, environmentId, connection));
    if (!reach) continue;
    const able = ableAccounts(active);
    const tools = (await toolsOfReach(read, deps, environmentId, reach)).filter((tool) => able(tool).length > 0);
    const chosen = tools.length > most ? chooseTools(tools, await toolUses(read, reach.connection), most) : tools;
    for (const tool of chosen) {
      const accounts = able(tool);
      const others = callable.get(tool.name)?.accounts;
      callable.set(tool.name, { tool, accounts: others ? [...others, ...accounts].sort(byId) : accounts });
    }
  }
  return [...callable.values()].sort((a, b) => compare(a.tool.name, b.tool.name));
}

/**
 * Returns the accounts that have the scopes of a tool. The result is cached for tools with the same scopes, because
 * there may be thousands of tools.
 */
function ableAccounts(active: readonly AccountRow[]): (tool: ToolCard) => readonly AccountRow[] {
  const found = new Map<ToolCard['scopes'], AccountRow[]>();
  return (tool) => {
    const known = found.get(tool.scopes);
    if (known) return known;
    const able = active.filter((account) => missingScopes(tool, account).length === 0).sort(byId);
    found.set(tool.scopes, able);
    return able;
  };
}

/** Returns the newest accounts of a user (see `MAX_ACCOUNTS`), by the id of their connection. */
export async function accountsOf(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  user: UserName,
): Promise<Map<string, AccountRow[]>> {
  const found = new Map<string, AccountRow[]>();
  let seen = 0;
  for await (const rows of accountsOfUser(read, environmentId, user)) {
    for (const { id } of rows) {
      const account = await read.accounts.get(environmentId, id);
      if (account) found.set(account.connectionId, [...(found.get(account.connectionId) ?? []), account]);
    }
    seen += rows.length;
    if (seen >= MAX_ACCOUNTS) break;
  }
  return found;
}

/** Returns undefined if the connection is disabled or its provider was deleted. */
async function reachOf(
  read: ReadRepositories,
  { catalogue }: Pick<DiscoveryDeps, 'catalogue'>,
  environmentId: EnvironmentId,
  connection: ConnectionRow,
): Promise<Reach | undefined> {
  if (!connection.enabled) return undefined;
  const provider = await findProvider(read, catalogue, environmentId, connection.providerKey);
  return provider && { connection, provider };
}

/** Returns the enabled connections with their providers. Connections whose provider was deleted are skipped. */
export async function reachesOf(
  read: ReadRepositories,
  { catalogue }: Pick<DiscoveryDeps, 'catalogue'>,
  environmentId: EnvironmentId,
  connections: readonly ConnectionRow[],
): Promise<Reach[]> {
  const providers = new Map<string, ProviderDefinition | undefined>();
  const reaches: Reach[] = [];
  for (const connection of connections) {
    const { enabled, providerKey } = connection;
    if (!enabled) continue;
    if (!providers.has(providerKey)) {
      providers.set(providerKey, await findProvider(read, catalogue, environmentId, providerKey));
    }
    const provider = providers.get(providerKey);
    if (provider) reaches.push({ connection, provider });
  }
  return reaches;
}

/**
 * Whether a tool can be run (it does not wait for a review, and no overlay withholds it) and a connection allows it.
 */
export function isAllowed(
  { tool, flagged, withheld }: KnownTool,
  { allowedTools }: Pick<ConnectionRow, 'allowedTools'>,
): boolean {
  const isRunnable = flagged === null && withheld === undefined;
  return isRunnable && (allowedTools === null || allowedTools.includes(ownNameOf(tool)));
}

/**
 * Returns the tools that a connection allows, of those that its provider's accounts can run: the provider's tools, and
 * for a custom provider that is not an MCP server also the generic tools of the catalogue.
 */
async function toolsOfReach(
  read: ReadRepositories,
  { catalogue, toolDirectory }: DiscoveryDeps,
  environmentId: EnvironmentId,
  { connection, provider }: Reach,
): Promise<ToolCard[]> {
  const connectors = [provider.identifier, ...(provider.isCustom ? genericConnectors(catalogue) : [])];
  const cards: ToolCard[] = [];
  for (const connector of connectors) cards.push(...(await toolDirectory.cardsOf(read, environmentId, connector)));
  const allowed = connection.allowedTools && new Set(connection.allowedTools);
  return cards.filter(
    (card) => toolFits(card, provider) && (allowed === null || allowed.has(card.ownName ?? card.name)),
  );
}

function genericConnectors(catalogue: Catalogue): Set<string> {
  return new Set(catalogue.genericTools().map(({ connector }) => connector));
}

function byId(a: AccountRow, b: AccountRow): number {
  return compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
