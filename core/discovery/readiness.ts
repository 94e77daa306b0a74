import type { AccountRow, ConnectionRow } from '../../db/store.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import { findPattern } from '../connections/providers.ts';
import { connectionStatus, missingSettings, settingsOf } from '../connections/status.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { notActiveAction, requiredOperation, scopesMissing } from '../executions/next-action.ts';

/** Whether a user can call a tool now. */
export type Readiness = 'READY' | 'NEEDS_CONNECTION' | 'NEEDS_REAUTH';

/** The user for whom a tool is called, by fields of the user's accounts. An omitted field matches any value. */
export interface UserName {
  organizationId?: string | undefined;
  userId?: string | undefined;
  identifier?: string | undefined;
}

/** The API operation to call next so that a user can call a tool, with the arguments that are known. */
export interface NextStep {
  operationId: string;
  arguments: Record<string, string>;
  message: string;
}

/** Whether a user can call a tool over one connection, or with a provider that has no connection yet. */
export interface ToolReadiness {
  readiness: Readiness;
  /** The account that would run the tool; null if the user has none. */
  account: AccountRow | null;
  /**
   * The scopes that the tool needs and the account lacks. If the tool accepts one of several sets of scopes, these are
   * the missing scopes of the set of which the account lacks the fewest.
   */
  missingScopes: string[];
  /** null if the tool is READY. */
  next: NextStep | null;
}

/** Alternative sets of scopes; the account needs all scopes of one set. */
interface NeededScopes {
  scopes: readonly (readonly string[])[];
}

const NO_CLIENT = { clientId: null, hasClientSecret: false };

/**
 * Determines a user's readiness for a tool from the best of the user's accounts.
 *
 * @param connection null if the provider has no connection yet. The first use of the provider creates one. If the
 * connection needs settings, the next step is to create the connection with these settings.
 * @param accounts the user's accounts of that connection
 */
export function readinessFor(
  tool: NeededScopes,
  provider: ProviderDefinition,
  connection: ConnectionRow | null,
  accounts: readonly AccountRow[],
  user: UserName,
): ToolReadiness {
  const candidates = accounts.map((account) => ({ account, missingScopes: missingScopes(tool, account) }));
  const [best] = candidates.sort((a, b) => rank(a) - rank(b) || (a.account.id < b.account.id ? -1 : 1));
  const account = best?.account ?? null;
  const missing = best?.missingScopes ?? [];
  const readiness = readinessOf(account, missing);
  const toolReadiness = { readiness, account, missingScopes: readiness === 'READY' ? [] : missing };
  if (readiness === 'READY') return { ...toolReadiness, next: null };
  return { ...toolReadiness, next: nextStep(provider, connection, account, missing, user) };
}

/**
 * Returns the scopes that an account lacks to run a tool; empty if it has enough scopes, or if its granted scopes are
 * unknown.
 */
export function missingScopes(tool: NeededScopes, account: Pick<AccountRow, 'publicDetails'>): string[] {
  const granted = grantedScopes(account);
  if (!granted) return [];
  const lacking = tool.scopes.map((set) => set.filter((scope) => !granted.has(scope)));
  return lacking.sort((a, b) => a.length - b.length)[0] ?? [];
}

/** Returns null if the provider does not report granted scopes, or the credentials have no scopes. */
function grantedScopes({ publicDetails }: Pick<AccountRow, 'publicDetails'>): Set<string> | null {
  const [form] = Object.values(publicDetails ?? {}) as { scopes?: unknown }[];
  return Array.isArray(form?.scopes) && form.scopes.length > 0 ? new Set(form.scopes as string[]) : null;
}

function readinessOf(account: AccountRow | null, missing: readonly string[]): Readiness {
  switch (account?.status) {
    case 'ACTIVE':
      return missing.length === 0 ? 'READY' : 'NEEDS_REAUTH';
    case 'EXPIRED':
    case 'DISCONNECTED':
      return 'NEEDS_REAUTH';
    default:
      return 'NEEDS_CONNECTION';
  }
}

/** Ranks accounts: ready ones first, then those that must be connected again, then those that are not connected yet. */
function rank({ account, missingScopes: missing }: { account: AccountRow; missingScopes: readonly string[] }): number {
  if (account.status === 'ACTIVE') return missing.length === 0 ? 0 : 1;
  return ['EXPIRED', 'DISCONNECTED', 'PENDING_VERIFICATION', 'PENDING_AUTH'].indexOf(account.status) + 2;
}

function nextStep(
  provider: ProviderDefinition,
  connection: ConnectionRow | null,
  account: AccountRow | null,
  missing: readonly string[],
  user: UserName,
): NextStep {
  const pattern = connection ? findPattern(provider, connection.type) : provider.authPatterns[0];
  // A draft may lack only a setting that is required in production environments, but not in others. The settings are
  // checked by the rules of production, because otherwise this setting would not be reported as missing.
  const isDraft = connection?.status === 'DRAFT';
  const settings = connection && pattern ? settingsOf(connection, { provider, pattern }, isDraft) : NO_CLIENT;
  if (pattern && connectionStatus(pattern, settings, false) === 'DRAFT') {
    const lacking = missingSettings(pattern, settings).join(' and ');
    return connection
      ? step(
          'updateConnection',
          { connection_id: connection.id },
          `The connection is not fully configured; missing: ${lacking}.`,
        )
      : step(
          'createConnection',
          { connector: provider.identifier },
          `The environment has no connection to ${provider.displayName} yet; it needs ${lacking}.`,
        );
  }
  if (account && connection) return nextStepOf(account, connection, pattern, missing);
  const type = (connection?.type ?? pattern?.type) as AuthorizationType | undefined;
  const isLinked = type !== undefined && requiredOperation('PENDING_AUTH', type, pattern)[0] === 'generateMagicLink';
  const key = {
    connector: connection?.keyId ?? provider.identifier,
    ...(user.identifier !== undefined && { identifier: user.identifier }),
    ...(user.organizationId !== undefined && { organization_id: user.organizationId }),
    ...(user.userId !== undefined && { user_id: user.userId }),
  };
  return isLinked
    ? step(
        'generateMagicLink',
        key,
        `The user has no account of ${provider.displayName} yet. Create a link and send the user to it.`,
      )
    : step('createConnectedAccount', key, `The user has no account of ${provider.displayName} yet. Create it.`);
}

/** Returns the next step if the user has an account: the same step that a failed call with the account returns. */
function nextStepOf(
  account: AccountRow,
  connection: ConnectionRow,
  pattern: AuthPattern | undefined,
  missing: readonly string[],
): NextStep {
  const isActive = account.status === 'ACTIVE' && pattern !== undefined;
  const action = isActive
    ? scopesMissing(missing, { pattern, connection })
    : notActiveAction(account, { pattern, connection });
  const { operation_id: operationId, message } = action;
  const args: Record<string, Record<string, string>> = {
    verifyUser: {},
    updateConnection: { connection_id: connection.id },
  };
  return step(operationId, args[operationId] ?? { id: account.id }, message);
}

function step(operationId: string, args: Record<string, string>, message: string): NextStep {
  return { operationId, arguments: args, message };
}
