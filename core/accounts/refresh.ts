import type { AccountRow } from '../../db/store.ts';
import { REFRESH } from '../budgets.ts';
import type { Cause } from '../events/events.ts';
import { inSpan } from '../spans.ts';
import type { ToolError } from '../tools/outcome.ts';
import { accountNotFound } from './find.ts';
import { hasOrHadToken, isDue, isExpired, isObtainable } from './freshness.ts';
import { serverBusy, toToolError } from './refresh-failure.ts';
import { type RefreshOnceDeps, type RefreshReason, refreshOnce } from './refresh-once.ts';
import type { Renewal, RunDeps } from './refresh-run.ts';
import { RefreshSlots } from './refresh-slots.ts';

export interface RefreshDeps extends Omit<RunDeps, 'leaseMs'> {
  limits?: Partial<RefreshLimits>;
  /** Milliseconds of a monotonic clock; only differences are used. */
  clock?: () => number;
}

/** Times in milliseconds; core/budgets.ts describes each. */
export type RefreshLimits = Record<keyof typeof REFRESH, number>;

export interface Fresh {
  account: AccountRow;
  /** The account is ACTIVE, but its token has expired and could not be renewed. */
  error?: ToolError;
}

export interface Refresher {
  /**
   * Returns the account with a valid token, refreshed if needed and possible. If its grant has ended (EXPIRED), or its
   * credentials must not be used any more (PENDING_AUTH), it is returned with this status and a reason. If the refresh
   * fails for another reason, the account is returned with its old token.
   *
   * @throws ApiError NOT_FOUND if the account was deleted meanwhile, SERVER_BUSY if its token has expired and the wait
   * for a slot or for a refresh in another process took too long; StorageError; VaultError
   */
  freshen(account: AccountRow, cause: Cause): Promise<AccountRow>;
  /**
   * Returns the account with a valid token if possible; otherwise also the error that prevented it. Returns
   * synchronously if no new token is needed, which is the usual case.
   *
   * @throws ApiError NOT_FOUND if the account was deleted meanwhile; StorageError; VaultError
   */
  ensureFresh(account: AccountRow, cause: Cause): Fresh | Promise<Fresh>;
  /**
   * Refreshes an account whose token was rejected by its provider.
   *
   * @param account as it was when the rejected token was read from it
   * @param failed receives the error if no new token could be obtained; it is not called if the grant has ended or a
   * new token would not help
   * @returns the account with a new token, or null if none could be obtained
   * @throws ApiError SERVER_BUSY if the wait for a slot or for a refresh in another process took too long;
   * StorageError; VaultError
   */
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
  /** Resolves when no refresh is running. Await it before closing the store. */
  idle(): Promise<void>;
}

/**
 * Keeps the tokens of accounts valid. An account has at most one refresh at a time: callers in this process that need
 * it for the same reason share it, and a lease in the database excludes all others (threat R1).
 */
export function createRefresher({ limits, clock, ...deps }: RefreshDeps): Refresher {
  const within = { ...REFRESH, ...limits };
  const refreshDeps: RefreshOnceDeps = { ...deps, ...within, slots: new RefreshSlots(within, clock) };
  const flights = new Map<string, Promise<Renewal>>();

  /**
   * Callers that need the same refresh share it. The key contains the generation of the credentials, so that no caller
   * gets the result of a refresh of older credentials.
   */
  function share(account: AccountRow, cause: Cause, refreshReason: RefreshReason): Promise<Renewal> {
    const key = `${account.id}/${account.credentialGeneration}/${refreshReason}`;
    const underWay = flights.get(key);
    if (underWay) return underWay;
    const flight = inSpan(
      () => ({
        name: 'refresh',
        kind: 'internal',
        attributes: { 'valetkey.connector': account.connector, 'valetkey.refresh.reason': refreshReason },
      }),
      async (span) => {
        const renewal = await refreshOnce(refreshDeps, account, cause, refreshReason);
        span.failure = renewal.failure?.reason;
        return renewal;
      },
    ).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  function ensureFresh(asked: AccountRow, cause: Cause): Fresh | Promise<Fresh> {
    return isDue(asked, refreshDeps) ? refreshed(asked, cause) : { account: asked };
  }

  async function refreshed(asked: AccountRow, cause: Cause): Promise<Fresh> {
    const { account, failure } = isExpired(asked, refreshDeps.now())
      ? await share(asked, cause, 'expired')
      : await Promise.race([share(asked, cause, 'early'), patience(asked)]);
    if (!account) throw accountNotFound();
    const unusable = failure !== undefined && isExpired(account, refreshDeps.now());
    return unusable ? { account, error: toToolError(failure, hasOrHadToken(asked)) } : { account };
  }

  /** A slow provider must not delay calls whose token is still valid; the refresh itself continues. */
  async function patience(account: AccountRow): Promise<Renewal> {
    await refreshDeps.wait(refreshDeps.shortPatienceMs);
    return { account };
  }

  return {
    ensureFresh,
    async freshen(asked, cause) {
      const { account, error } = await ensureFresh(asked, cause);
      if (error?.kind === 'service_busy') throw serverBusy(error);
      return account;
    },
    async refreshNow(asked, cause, failed) {
      if (!isObtainable(asked)) return null;
      const { account, failure } = await share(asked, cause, 'refused');
      const error = failure && toToolError(failure, true);
      if (error?.kind === 'service_busy') throw serverBusy(error);
      if (error) failed?.(error);
      const renewed = account?.status === 'ACTIVE' && account.credentialGeneration !== asked.credentialGeneration;
      return renewed ? account : null;
    },
    async idle() {
      while (flights.size > 0) await Promise.allSettled(flights.values());
    },
  };
}
