import type {
  AccountSummaryRow,
  ConnectionRow,
  EnvironmentRow,
  ExecutionRow,
  OAuthGrantRow,
  PortalSessionRow,
  ReadRepositories,
} from '../../db/store.ts';
import { completionOf } from '../accounts/links/completion.ts';
import { isVerificationOff } from '../accounts/links/verification.ts';
import { PORTAL } from '../budgets.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import { describedScopes } from '../connections/scopes.ts';
import type { ScopeEntry } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { findServer } from '../mcp/server-definition.ts';
import { ownAccounts, ownGrants } from './own.ts';

/** A connection as the portal shows it. */
export interface PortalConnection {
  connection: ConnectionRow;
  /** Undefined if the provider was deleted. */
  provider: ProviderDefinition | undefined;
  /** The scopes that accounts request, with their descriptions; empty if the provider or its pattern is missing. */
  scopes: readonly ScopeEntry[];
  /** Whether the user can connect an account now. */
  canConnect: boolean;
}

export interface PortalAccount extends PortalConnection {
  account: AccountSummaryRow;
  /** Milliseconds UTC, or null. */
  lastUsedAt: number | null;
}

export interface PortalCall {
  execution: ExecutionRow;
  account: PortalAccount;
}

export interface PortalGrant {
  grant: OAuthGrantRow;
  /** The display names of the providers whose tools the client can use. */
  providers: readonly string[];
}

export interface Overview {
  accounts: readonly PortalAccount[];
  /** Connections for which the user has no account yet, but can connect one. */
  connectable: readonly PortalConnection[];
  grants: readonly PortalGrant[];
  /** The latest first. */
  calls: readonly PortalCall[];
}

export interface OverviewDeps {
  store: { readonly read: ReadRepositories };
  catalogue: Catalogue;
  now(): number;
  usage: { lastUsedAt(account: AccountSummaryRow): number | null };
}

/**
 * Reads what a user sees in the portal: only what belongs to exactly this user, and never the contents of calls. Lists
 * are bounded by `PORTAL`.
 */
export async function readOverview(
  deps: OverviewDeps,
  environment: EnvironmentRow,
  session: PortalSessionRow,
): Promise<Overview> {
  const { read } = deps.store;
  const enabled = await read.connections.list(environment.id, { enabled: true }, { size: PORTAL.rows });
  const known = new Map(enabled.rows.map((row) => [row.id, row]));
  const accounts: PortalAccount[] = [];
  for (const account of await ownAccounts(read, environment.id, session)) {
    const { connectionId, authorizationType } = account;
    const connection = known.get(connectionId) ?? (await read.connections.get(environment.id, connectionId));
    if (!connection) continue;
    const described = await describe(deps, environment, session, connection, authorizationType);
    accounts.push({ ...described, account, lastUsedAt: deps.usage.lastUsedAt(account) });
  }
  const taken = new Set(accounts.map(({ connection }) => connection.id));
  const connectable: PortalConnection[] = [];
  for (const connection of enabled.rows.filter(({ id }) => !taken.has(id))) {
    const described = await describe(deps, environment, session, connection, connection.type);
    if (described.canConnect) connectable.push(described);
  }
  const grants: PortalGrant[] = [];
  for (const grant of await ownGrants(read, environment.id, session, deps.now())) {
    grants.push({ grant, providers: await providersOf(deps, environment, grant) });
  }
  return { accounts, connectable, grants, calls: await latestCalls(read, environment, accounts) };
}

/** Returns a connection with its provider and scopes, and whether the user of a session can connect an account. */
async function describe(
  { store, catalogue }: Pick<OverviewDeps, 'store' | 'catalogue'>,
  environment: EnvironmentRow,
  { userVerifyUrl }: Pick<PortalSessionRow, 'userVerifyUrl'>,
  connection: ConnectionRow,
  type: string,
): Promise<PortalConnection> {
  const provider = await findProvider(store.read, catalogue, environment.id, connection.providerKey);
  const pattern = provider && findPattern(provider, type);
  const provesUser = async () => (await store.read.loginProviders.get(environment.id))?.type === 'OIDC';
  const isVerifiable = userVerifyUrl !== null || isVerificationOff(connection, environment) || (await provesUser());
  const isReady = connection.enabled && connection.status !== 'DRAFT';
  return {
    connection,
    provider,
    scopes: pattern ? describedScopes(connection, pattern) : [],
    canConnect: isReady && isVerifiable && pattern !== undefined && completionOf(pattern) !== null,
  };
}

/**
 * Returns the display names of the providers behind a grant's MCP server, which belongs to one connection or to a
 * config with several connections.
 */
async function providersOf(
  { store, catalogue }: Pick<OverviewDeps, 'store' | 'catalogue'>,
  { id }: EnvironmentRow,
  { serverId }: OAuthGrantRow,
): Promise<string[]> {
  const server = await findServer(store.read, id, serverId);
  const names = (server?.mappings ?? []).map(async ({ connection }) => {
    const provider = await findProvider(store.read, catalogue, id, connection.providerKey);
    return provider?.displayName ?? connection.keyId;
  });
  return [...new Set(await Promise.all(names))];
}

async function latestCalls(
  read: ReadRepositories,
  { id }: EnvironmentRow,
  accounts: readonly PortalAccount[],
): Promise<PortalCall[]> {
  const used = accounts.filter(({ lastUsedAt }) => lastUsedAt !== null);
  const latest = used.sort((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0)).slice(0, PORTAL.accountsWithCalls);
  const calls: PortalCall[] = [];
  for (const account of latest) {
    const page = await read.executions.list(id, { accountId: account.account.id }, { size: PORTAL.calls });
    calls.push(...page.rows.map((execution) => ({ execution, account })));
  }
  return calls.sort((a, b) => b.execution.startedAt - a.execution.startedAt).slice(0, PORTAL.calls);
}
