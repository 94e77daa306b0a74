import type { AccountRow, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { expireAccount } from '../accounts/expire-account.ts';
import { findAccount } from '../accounts/find.ts';
import type { Selector } from '../accounts/selector.ts';
import { connectionDisabled } from '../connections/unusable.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { Egress } from '../net/egress.ts';
import { accountContextOf } from './account-context.ts';
import { checkCall, NOT_CHECKABLE, reasonOfInvalidRequest, verdictOf } from './credential-check.ts';
import { accountNotActive } from './next-action.ts';
import { findUsable, inputsOf, type PlanDeps, requireBinding } from './plan.ts';
import { type RunDeps, runPlan } from './run.ts';

export interface CheckedAccount {
  outcome: 'ACTIVE' | 'EXPIRED' | 'UNKNOWN';
  /** A sentence for display; empty for `ACTIVE`. */
  reason: string;
  account: AccountRow;
}

/**
 * Asks the provider whether it still accepts the credentials of an account. If the provider rejects them, and a refresh
 * does not help, the account expires, so that its user is asked to authorize it again. An account that has already
 * expired is returned as `EXPIRED` without a call.
 *
 * @returns `UNKNOWN` if the provider defines no check, no valid request can be made, or the check was inconclusive
 * @throws ApiError as `findAccount`; ACCOUNT_NOT_ACTIVE for an account that waits for its user or was disconnected, or
 * whose provider has changed; INVALID_API_CONFIG if the connection does not allow its base URL; CONNECTION_DISABLED
 */
export async function checkAccount(
  read: ReadRepositories,
  deps: RunDeps & Pick<PlanDeps, 'catalogue'>,
  environment: EnvironmentRow,
  egress: Egress,
  selector: Selector,
  cause: Cause,
): Promise<CheckedAccount> {
  const found = await findAccount(read, environment.id, selector);
  if (found.status === 'EXPIRED') return expired(found);
  const { account, provider } = await findUsable(read, deps, environment.id, selector);
  const { pattern, connection } = await accountContextOf(read, deps.catalogue, account);
  if (!connection.enabled) throw connectionDisabled(connection);
  if (!pattern) throw accountNotActive(account, { pattern, connection });
  requireBinding(account, connection, { provider, pattern });
  const unknown = (reason: string): CheckedAccount => ({ outcome: 'UNKNOWN', reason, account });
  try {
    const call = checkCall({ provider, pattern, account: inputsOf({}, pattern, account) });
    if (!call) return unknown(NOT_CHECKABLE.reason);
    const plan = { account, connection, provider, ownTool: null, call, files: [], filesBytes: 0, allPages: false };
    const outcome = await runPlan(plan, egress, cause, deps);
    const verdict = verdictOf(provider, outcome);
    if (verdict.verdict === 'accepted') return { outcome: 'ACTIVE', reason: '', account };
    const isOpen = !outcome.ok && (outcome.error.retryable || outcome.error.refreshFailed);
    if (verdict.verdict === 'unknown' || isOpen) return unknown(verdict.reason);
    return expired(await expire(deps, account, verdict.reason, cause));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const now = await findAccount(read, environment.id, { by: 'id', id: account.id, agreeing: {} });
    if (now.status === 'EXPIRED') return expired(now);
    if (error.code === 'ACCOUNT_NOT_ACTIVE') throw error;
    return unknown(reasonOfInvalidRequest(error));
  }
}

function expired(account: AccountRow): CheckedAccount {
  return { outcome: 'EXPIRED', reason: account.statusReason ?? 'The credentials are no longer valid.', account };
}

/** Marks the account as expired, unless it was changed to another status or got other credentials in the meantime. */
async function expire(
  { store, events, now }: Pick<RunDeps, 'store' | 'events' | 'now'>,
  account: AccountRow,
  reason: string,
  cause: Cause,
): Promise<AccountRow> {
  return store.write(async (tx) => {
    const current = await tx.accounts.get(account.environmentId, account.id);
    if (current?.status !== 'ACTIVE' || current.credentialGeneration !== account.credentialGeneration) {
      return current ?? account;
    }
    await expireAccount(tx, events, current, `${reason} Authorize the account again.`, now(), cause);
    return (await tx.accounts.get(account.environmentId, account.id)) as AccountRow;
  });
}
