import type { AccountRow, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { findAccount } from '../accounts/find.ts';
import { isObtainable } from '../accounts/freshness.ts';
import type { Selector } from '../accounts/selector.ts';
import { connectionDisabled } from '../connections/unusable.ts';
import type { Cause } from '../events/events.ts';
import type { ToolError } from '../tools/outcome.ts';
import { accountContextOf } from './account-context.ts';
import { accountNotActive } from './next-action.ts';
import { findUsable, type PlanDeps } from './plan.ts';
import type { RunDeps } from './run.ts';

export interface RefreshedAccount {
  outcome: 'REFRESHED' | 'EXPIRED' | 'UNCHANGED';
  /** A sentence for display; empty for `REFRESHED`. */
  reason: string;
  account: AccountRow;
}

/**
 * Obtains a new token for an account now, whether or not the current one is still valid.
 *
 * @returns `EXPIRED` if the provider issues no more tokens for the account; `UNCHANGED` if its credentials do not need
 * a refresh, or if no new token was obtained for another reason
 * @throws ApiError as `findAccount`; ACCOUNT_NOT_ACTIVE for an account that waits for its user, has expired or was
 * disconnected; CONNECTION_DISABLED; SERVER_BUSY if the refresh had to wait too long for other refreshes
 */
export async function refreshAccount(
  read: ReadRepositories,
  deps: Pick<RunDeps, 'refreshNow'> & Pick<PlanDeps, 'catalogue'>,
  environment: EnvironmentRow,
  selector: Selector,
  cause: Cause,
): Promise<RefreshedAccount> {
  const { account } = await findUsable(read, deps, environment.id, selector);
  const context = await accountContextOf(read, deps.catalogue, account);
  if (!context.connection.enabled) throw connectionDisabled(context.connection);
  if (!isObtainable(account))
    return { outcome: 'UNCHANGED', reason: 'The credentials of this account do not need a refresh.', account };
  let failure: ToolError | undefined;
  const renewed = await deps.refreshNow(account, cause, (error) => {
    failure = error;
  });
  if (renewed) return { outcome: 'REFRESHED', reason: '', account: renewed };
  const current = await findAccount(read, environment.id, { by: 'id', id: account.id, agreeing: {} });
  if (current.status === 'EXPIRED') {
    const reason = current.statusReason ?? 'The provider does not issue tokens for this account any more.';
    return { outcome: 'EXPIRED', reason, account: current };
  }
  if (current.status !== 'ACTIVE') throw accountNotActive(current, context);
  const reason = failure?.message ?? 'The provider issued no new token, or the account has no refresh token.';
  return { outcome: 'UNCHANGED', reason, account: current };
}
