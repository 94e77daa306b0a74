import type { AccountRow, AccountStatus } from '../../db/store.ts';
import type { AuthorizationType } from '../connectors/auth-pattern.ts';
import { ApiError } from '../errors.ts';

/** What has to happen before an account can be used again, in the words of the contract, and why. */
const NEXT_ACTIONS: Record<Exclude<AccountStatus, 'ACTIVE'>, { type: string; message: string }> = {
  PENDING_AUTH: { type: 'authorize', message: 'The account has no usable credentials yet.' },
  PENDING_VERIFICATION: { type: 'verify', message: 'The user who finished the link has not been verified yet.' },
  EXPIRED: { type: 'reauthorize', message: 'The credentials of the account have expired or were refused.' },
  DISCONNECTED: { type: 'reconnect', message: 'The account was disconnected.' },
};

/** The types whose credentials a person grants, or types into a form: a link gets them. */
const PERSONAL_TYPES: ReadonlySet<AuthorizationType> = new Set([
  'OAUTH',
  'SMART_FHIR',
  'BOARD_OAUTH1',
  'API_KEY',
  'BEARER_TOKEN',
  'BASIC',
  'BASIC_AUTH',
  'CUSTOM',
]);

/** The answer for an account that cannot be used now, with what to do about it. */
export function accountNotActive(account: Pick<AccountRow, 'status' | 'statusReason' | 'authorizationType'>): ApiError {
  const status = account.status === 'ACTIVE' ? 'PENDING_AUTH' : account.status;
  const { type, message } = NEXT_ACTIONS[status];
  const [operation_id, advice] = remedyOf(status, account.authorizationType);
  const reason = account.statusReason ? ` ${account.statusReason}` : '';
  return new ApiError('ACCOUNT_NOT_ACTIVE', `The account is ${status}.${reason}`, {
    extra: { next_action: { type, operation_id, message: `${message} ${advice}` } },
  });
}

/** What helps an account that is active and whose credential the provider refused all the same. */
export function credentialRefused(authorizationType: AuthorizationType) {
  const [operation_id, advice] = remedyOf('EXPIRED', authorizationType);
  return { type: 'reauthorize', operation_id, message: `The provider refused the credentials. ${advice}` };
}

/** What helps an account whose credential works and lacks scopes. */
export function scopesMissing(scopes: readonly string[], authorizationType: AuthorizationType) {
  const [operation_id, advice] = remedyOf('EXPIRED', authorizationType);
  const message = `The credentials lack the scopes ${scopes.join(', ')}. ${advice}`;
  return { type: 'reauthorize', operation_id, message };
}

/** The operation that helps an account which cannot be used now, and what it is for. */
export function remedyOf(status: AccountStatus, type: AuthorizationType): [operationId: string, advice: string] {
  if (status === 'PENDING_VERIFICATION')
    return ['verifyUser', 'The application has to verify the user who returns from the link.'];
  if (PERSONAL_TYPES.has(type))
    return ['generateMagicLink', 'The application has to make a link and send the user to it.'];
  return ['updateConnectedAccount', 'The application has to store new credentials.'];
}
