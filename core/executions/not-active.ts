import type { AccountRow, AccountStatus } from '../../db/store.ts';
import { ApiError } from '../errors.ts';

/** What has to happen before an account can be used again, in the words of the contract. */
const NEXT_ACTIONS: Record<Exclude<AccountStatus, 'ACTIVE'>, { type: string; message: string }> = {
  PENDING_AUTH: { type: 'authorize', message: 'The account has no usable credentials yet; give it some.' },
  PENDING_VERIFICATION: { type: 'verify', message: 'The user who finished the link has not been verified yet.' },
  EXPIRED: { type: 'reauthorize', message: 'The credentials have expired or were refused; give the account new ones.' },
  DISCONNECTED: {
    type: 'reconnect',
    message: 'The account was disconnected; give it new credentials to use it again.',
  },
};

/** The answer for an account that cannot be used now, with what to do about it. */
export function accountNotActive(account: Pick<AccountRow, 'status' | 'statusReason'>): ApiError {
  const status = account.status === 'ACTIVE' ? 'PENDING_AUTH' : account.status;
  const { type, message } = NEXT_ACTIONS[status];
  const reason = account.statusReason ? ` ${account.statusReason}` : '';
  return new ApiError('ACCOUNT_NOT_ACTIVE', `The account is ${status}.${reason}`, {
    extra: { next_action: { type, operation_id: 'updateConnectedAccount', message } },
  });
}
