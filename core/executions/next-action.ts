import type { AccountRow, AccountStatus } from '../../db/store.ts';
import { usersEnterCredentials } from '../accounts/links/completion.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isClientPattern, isGranted } from '../authorization/roles.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import { requestedScopes, requestsRequired } from '../connections/scopes.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { ApiError } from '../errors.ts';
import type { FaultyPart } from '../oauth/config-error.ts';
import type { AccountContext } from './account-context.ts';

/** The context of an account whose provider still offers its authorization type. */
export interface ToolCallContext extends AccountContext {
  pattern: AuthPattern;
}

/** The operation that makes an account usable, and the reason as a sentence for users and models. */
export interface NextAction {
  type: 'authorize' | 'reauthorize' | 'verify' | 'reconnect' | 'configure';
  operation_id: string;
  message: string;
}

type AccountState = Pick<AccountRow, 'status' | 'statusReason' | 'authorizationType'>;

/** The action and the message for each status of an unusable account. */
const STATES: Record<Exclude<AccountStatus, 'ACTIVE'>, { type: NextAction['type']; message: string }> = {
  PENDING_AUTH: { type: 'authorize', message: 'The account is not connected.' },
  PENDING_VERIFICATION: {
    type: 'verify',
    message: 'The application has not verified yet which user connected the account.',
  },
  EXPIRED: { type: 'reauthorize', message: 'The provider no longer accepts the credentials of the account.' },
  DISCONNECTED: { type: 'reconnect', message: 'The account was disconnected.' },
};

const PROVIDER_GONE: [string, string] = [
  'createConnectedAccount',
  'The provider was deleted: the application must create an account with another provider.',
];

/** Returns the error for an account that cannot be used now, including what to do. */
export function accountNotActive(account: AccountState, context: AccountContext): ApiError {
  return new ApiError('ACCOUNT_NOT_ACTIVE', stateOf(account), {
    extra: { next_action: notActiveAction(account, context) },
  });
}

/** Returns the action that makes an inactive account usable. */
export function notActiveAction(account: AccountState, context: AccountContext): NextAction {
  const { type } = STATES[statusOf(account)];
  if (!context.pattern) return action(type, stateOf(account), PROVIDER_GONE);
  const remedy = requiredOperation(statusOf(account), account.authorizationType, context.pattern);
  return draftAction(context) ?? action(type, stateOf(account), remedy);
}

/** Returns why an account cannot be used now, as a sentence for users. */
function stateOf(account: AccountState): string {
  return account.statusReason ?? STATES[statusOf(account)].message;
}

function statusOf({ status }: AccountState): Exclude<AccountStatus, 'ACTIVE'> {
  return status === 'ACTIVE' ? 'PENDING_AUTH' : status;
}

/** Returns the error for a connection that lacks settings which its accounts need. */
export function connectionNotReady(detail: string, connection: AccountContext['connection']): ApiError {
  const next = configure({ connection }, detail, 'Correct its client id, secret or key.');
  return new ApiError('CONNECTION_NOT_READY', detail, { extra: { next_action: next } });
}

/**
 * Returns the action after the provider rejected the credential of an active account.
 *
 * @param faultyPart whether the credential of the account or of the connection was rejected, if known
 */
export function credentialRefused(context: ToolCallContext, faultyPart?: FaultyPart): NextAction {
  const { pattern } = context;
  // These accounts are OAuth clients, but their users enter no client: they use the client of the connection.
  const isOfConnection = isClientPattern(pattern) && !usersEnterCredentials(pattern);
  if (faultyPart === 'connection' || (faultyPart === undefined && isOfConnection)) {
    return configure(
      context,
      'The provider rejected the client of the connection.',
      'Correct its client id, secret or key.',
    );
  }
  const remedy = requiredOperation('EXPIRED', pattern.type, pattern);
  return action('reauthorize', 'The provider rejected the credentials of the account.', remedy);
}

/**
 * Returns the action for a valid credential that lacks scopes. The connection determines which scopes its accounts
 * request.
 */
export function scopesMissing(scopes: readonly string[], context: ToolCallContext): NextAction {
  const { pattern, connection } = context;
  const lacking = `The credentials lack the scopes ${scopes.join(', ')}.`;
  const asked = new Set(requestedScopes(connection, pattern));
  // A user who enters a token can enter one with more scopes.
  const isEntered = pattern.is_mcp === true && usersEnterCredentials(pattern) && !isClientPattern(pattern);
  const isAsked = isEntered || requestsRequired(connection, pattern) || scopes.every((scope) => asked.has(scope));
  if (!isLinked(pattern) || !isAsked) return configure(context, lacking, 'Add them to its scopes.');
  return action('reauthorize', lacking, requiredOperation('EXPIRED', pattern.type, pattern));
}

/** Returns the operation that makes an account with this status usable. */
export function requiredOperation(
  status: AccountStatus,
  type: AuthorizationType,
  pattern?: AuthPattern,
): [operationId: string, advice: string] {
  if (status === 'PENDING_VERIFICATION') {
    return ['verifyUser', 'The application must verify the user who returns from the link.'];
  }
  if (isLinked(pattern ?? { type })) {
    return ['generateMagicLink', 'The application must create a link and send the user to it.'];
  }
  return ['updateConnectedAccount', moduleOf(type).storeAdvice ?? 'The application must store new credentials.'];
}

/** Whether a user can connect an account by a link: by consent at the provider, or by entering credentials. */
function isLinked(pattern: AuthPattern): boolean {
  return usersEnterCredentials(pattern) || isGranted(pattern);
}

/**
 * Returns the action for a connection that lacks settings; undefined for any other connection. Without these settings
 * no link works and no token can be obtained, so they must be set first.
 */
function draftAction(context: AccountContext): NextAction | undefined {
  if (context.connection.status !== 'DRAFT') return undefined;
  return configure(
    context,
    'The connection is not fully configured.',
    'Set the fields listed in its missing_settings.',
  );
}

function configure({ connection }: Pick<AccountContext, 'connection'>, why: string, advice: string): NextAction {
  const message = `${why} An administrator must change the connection ${connection.keyId}: ${advice}`;
  return { type: 'configure', operation_id: 'updateConnection', message };
}

function action(type: NextAction['type'], why: string, [operation_id, advice]: [string, string]): NextAction {
  return { type, operation_id, message: `${why} ${advice}` };
}
