import type { AccountRow } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import type { ToolError } from '../tools/outcome.ts';
import { accountNotFound } from './find.ts';
import { isDue, isExpired, isObtainable } from './freshness.ts';
import { toToolError } from './refresh-failure.ts';
import { type FlightTools, flyRefresh, type Occasion } from './refresh-flight.ts';
import type { Renewal, RunTools } from './refresh-run.ts';
import { RefreshSlots } from './refresh-slots.ts';

export interface RefreshTools extends Omit<RunTools, 'leaseMs' | 'owner'> {
  limits?: Partial<RefreshLimits>;
}

/** Times in milliseconds. */
export interface RefreshLimits {
  /** Refreshes at once in this process, and at once at one provider. */
  total: number;
  perProvider: number;
  /** How long a lease keeps others out when its holder is gone; longer than any token request takes. */
  leaseMs: number;
  /** How long a caller without a valid token waits for a refresh in another process. */
  patienceMs: number;
  /** How long a caller with a token that is still valid waits for any refresh, before it goes on with the token it has. */
  shortPatienceMs: number;
}

const LIMITS: RefreshLimits = {
  total: 32,
  perProvider: 8,
  leaseMs: 30_000,
  patienceMs: 20_000,
  shortPatienceMs: 1_000,
};

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
   * @throws ApiError NOT_FOUND when it was deleted meanwhile; StorageError; VaultError
   */
  freshen(account: AccountRow, cause: Cause): Promise<AccountRow>;
  /** `freshen` that also says why a token which is needed could not be had. */
  ensureFresh(account: AccountRow, cause: Cause): Promise<Fresh>;
  /**
   * Refreshes an account whose token its provider has refused.
   *
   * @param account as it was when the refused token was read from it
   * @returns the account with another token, or null when there is none to be had
   */
  refreshNow(account: AccountRow, cause: Cause): Promise<AccountRow | null>;
  /** Resolves once no refresh is under way; to be awaited before the store is closed. */
  idle(): Promise<void>;
}

/**
 * Keeps the tokens of accounts valid. An account has one refresh at a time: callers of this process share it, other processes are
 * kept out by a lease in the database (threat R1).
 */
export function createRefresher({ limits, ...parts }: RefreshTools): Refresher {
  const { total, perProvider, ...times } = { ...LIMITS, ...limits };
  const owner = parts.random(16).toString('hex');
  const tools: FlightTools = { ...parts, ...times, owner, slots: new RefreshSlots(total, perProvider) };
  const flights = new Map<string, Promise<Renewal>>();

  /** By generation, so that nobody is given the end of a refresh that began before what they know. */
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
    return unusable ? { account, error: toToolError(failure) } : { account };
  }

  /** A provider that takes long must not hold up calls whose token is still good; the refresh itself goes on. */
  async function patience(account: AccountRow): Promise<Renewal> {
    await tools.wait(tools.shortPatienceMs);
    return { account };
  }

  return {
    ensureFresh,
    freshen: async (account, cause) => (await ensureFresh(account, cause)).account,
    async refreshNow(asked, cause) {
      if (!isObtainable(asked)) return null;
      const { account } = await share(asked, cause, 'refused');
      const renewed = account?.status === 'ACTIVE' && account.credentialGeneration !== asked.credentialGeneration;
      return renewed ? account : null;
    },
    async idle() {
      while (flights.size > 0) await Promise.allSettled(flights.values());
    },
  };
}
