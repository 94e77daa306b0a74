import type { AccountRow } from '../../db/store.ts';
import { REFRESH } from '../budgets.ts';
import type { Cause } from '../events/events.ts';
import type { ToolError } from '../tools/outcome.ts';
import { accountNotFound } from './find.ts';
import { hadToken, isDue, isExpired, isObtainable } from './freshness.ts';
import { serverBusy, toToolError } from './refresh-failure.ts';
import { type FlightTools, flyRefresh, type Occasion } from './refresh-flight.ts';
import type { Renewal, RunTools } from './refresh-run.ts';
import { RefreshSlots } from './refresh-slots.ts';

export interface RefreshTools extends Omit<RunTools, 'leaseMs'> {
  limits?: Partial<RefreshLimits>;
  /** Milliseconds of a clock that never goes back; only differences count. */
  clock?: () => number;
}

/** Times in milliseconds; core/budgets.ts says what each is for. */
export type RefreshLimits = Record<keyof typeof REFRESH, number>;

export interface Fresh {
  account: AccountRow;
  /** The account is ACTIVE, but its token has ended and could not be renewed for now. */
  error?: ToolError;
}

export interface Refresher {
  /**
   * The account with a token that is valid, refreshed where needed and possible. When its grant has ended it comes back EXPIRED with
   * a reason; when its provider cannot be asked now, as it is.
   *
   * @throws ApiError NOT_FOUND when it was deleted meanwhile, SERVER_BUSY when its token has ended and there was no place for a
   *   refresh in time; StorageError; VaultError
   */
  freshen(account: AccountRow, cause: Cause): Promise<AccountRow>;
  /** `freshen` that also says why a token which is needed could not be had. */
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
  /**
   * Refreshes an account whose token its provider has refused.
   *
   * @param account as it was when the refused token was read from it
   * @param failed is told why no other token could be had, where that is neither the end of the grant nor of no use
   * @returns the account with another token, or null when there is none to be had
   * @throws ApiError SERVER_BUSY when there was no place for a refresh in time
   */
  refreshNow(account: AccountRow, cause: Cause, failed?: (error: ToolError) => void): Promise<AccountRow | null>;
  /** Resolves once no refresh is under way; to be awaited before the store is closed. */
  idle(): Promise<void>;
}

/**
 * Keeps the tokens of accounts valid. An account has one refresh at a time: callers of this process share it, other processes are
 * kept out by a lease in the database (threat R1).
 */
export function createRefresher({ limits, clock, ...parts }: RefreshTools): Refresher {
  const within = { ...REFRESH, ...limits };
  const tools: FlightTools = { ...parts, ...within, slots: new RefreshSlots(within, clock) };
  const flights = new Map<string, Promise<Renewal>>();

  /** By generation, so that no caller gets the result of a refresh that began before the caller's data. */
  function share(account: AccountRow, cause: Cause, occasion: Occasion): Promise<Renewal> {
    const key = `${account.id}/${account.credentialGeneration}/${occasion}`;
    const underWay = flights.get(key);
    if (underWay) return underWay;
    const flight = flyRefresh(tools, account, cause, occasion).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  async function ensureFresh(asked: AccountRow, cause: Cause): Promise<Fresh> {
    if (!isDue(asked, tools)) return { account: asked };
    const { account, failure } = isExpired(asked, tools.now())
      ? await share(asked, cause, 'expired')
      : await Promise.race([share(asked, cause, 'early'), patience(asked)]);
    if (!account) throw accountNotFound();
    const unusable = failure !== undefined && isExpired(account, tools.now());
    return unusable ? { account, error: toToolError(failure, hadToken(asked)) } : { account };
  }

  /** A provider that takes long must not hold up calls whose token is still good; the refresh itself goes on. */
  async function patience(account: AccountRow): Promise<Renewal> {
    await tools.wait(tools.shortPatienceMs);
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
