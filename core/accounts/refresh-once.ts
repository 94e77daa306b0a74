import type { AccountRow } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import { fraction } from '../random.ts';
import { expireAccount } from './expire-account.ts';
import { isExpired, isObtainable } from './freshness.ts';
import { emitParked } from './park.ts';
import { isOverload, type RefreshFailure, reasonOf } from './refresh-failure.ts';
import { currentBlocker, isHeld } from './refresh-lease.ts';
import type { LoadVerdict } from './refresh-pace.ts';
import { type Planned, planRefresh } from './refresh-plan.ts';
import { type Renewal, type Run, type RunDeps, runRefresh, skippedRun } from './refresh-run.ts';
import { NO_REFRESH_TOKEN } from './refresh-settle.ts';
import { type RefreshSlots, SlotsBusyError } from './refresh-slots.ts';

export interface RefreshOnceDeps extends RunDeps {
  slots: RefreshSlots;
  /**
   * How long to wait for a refresh in another process, in milliseconds. The short limit applies while the current token
   * is still valid.
   */
  patienceMs: number;
  shortPatienceMs: number;
}

/** Why a token is refreshed: it will expire soon, it has expired, or the provider rejected it. */
export type RefreshReason = 'early' | 'expired' | 'refused';

const BUSY: RefreshFailure = {
  reason: 'busy',
  message: 'Another process is still refreshing the account. Try again in a second.',
  retryAfterMs: 1_000,
};
const NO_PLACE: RefreshFailure = {
  reason: 'busy',
  message: 'Too many accounts of the provider are waiting for a new token. Try again later.',
};
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

/**
 * Refreshes the credentials of an account, or waits until another process has refreshed them. If the account already
 * has other credentials than `asked`, or its tokens cannot be obtained any more, it is returned without a refresh.
 */
export async function refreshOnce(
  deps: RefreshOnceDeps,
  asked: AccountRow,
  cause: Cause,
  refreshReason: RefreshReason,
): Promise<Renewal> {
  const patienceMs = refreshReason === 'early' ? deps.shortPatienceMs : deps.patienceMs;
  for (;;) {
    const account = await deps.store.read.accounts.get(asked.environmentId, asked.id);
    if (!account) return { account };
    // The credentials were refreshed or changed in the meantime, or the account is not active any more.
    if (!isObtainable(account) || account.credentialGeneration !== asked.credentialGeneration) return { account };
    const run = await attempt(deps, account, cause, refreshReason);
    if (run.kind === 'done') return run.renewal;
    if (run.kind === 'busy' && !(await waitForLease(deps, account, patienceMs))) return { account, failure: BUSY };
  }
}

async function attempt(
  deps: RefreshOnceDeps,
  account: AccountRow,
  cause: Cause,
  refreshReason: RefreshReason,
): Promise<Run> {
  const { store, slots, leaseMs, now } = deps;
  const refused = refreshReason === 'refused';
  // Obstacles, such as a recent failure, are checked first, so that nothing is decrypted or written while a refresh is
  // not possible.
  const lease = await store.read.refreshLeases.get(account.environmentId, account.id);
  const obstacle = await currentBlocker(store.read, lease, account, { at: now(), leaseMs, refused });
  if (obstacle) return skippedRun(obstacle, account);
  const leftMs = refreshReason === 'early' ? (account.tokenExpiresAt ?? 0) - now() : 0;
  const planned = await planRefresh(store.read, deps, account, leftMs);
  if (!planned.can) return { kind: 'done', renewal: await endWithoutRequest(deps, account, planned, cause) };
  const { plan } = planned;
  const lane = `${account.environmentId} ${plan.origin}`;
  // An early refresh does not wait for a slot: its token is still valid, and accounts with expired tokens need the
  // slots.
  if (refreshReason === 'early' && !slots.isFree(lane)) return { kind: 'done', renewal: { account } };
  try {
    return await slots.run(
      lane,
      () => runRefresh(deps, plan, cause, refused),
      (run) => verdictOf(account, run),
    );
  } catch (error) {
    if (!(error instanceof SlotsBusyError)) throw error;
    const { retryAfterMs } = error;
    return { kind: 'done', renewal: { account, failure: { ...NO_PLACE, retryAfterMs } } };
  }
}

function verdictOf(asked: AccountRow, run: Run): LoadVerdict {
  if (run.kind !== 'done') return 'unknown';
  const { account, failure } = run.renewal;
  if (failure !== undefined) return isOverload(failure) ? 'strained' : 'unknown';
  return account?.credentialGeneration === asked.credentialGeneration ? 'unknown' : 'well';
}

/** Waits for another process to release the lease. @returns whether it did so in time */
async function waitForLease(deps: RefreshOnceDeps, account: AccountRow, patienceMs: number): Promise<boolean> {
  const { store, now, random, wait, leaseMs } = deps;
  let pauseMs = FIRST_PAUSE_MS;
  // The waits are added up instead of reading the clock, which may jump (threat R7).
  for (let waitedMs = 0; waitedMs < patienceMs; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const ms = Math.ceil(pauseMs * (0.5 + fraction(random)));
    await wait(ms);
    waitedMs += ms;
    const lease = await store.read.refreshLeases.get(account.environmentId, account.id);
    if (!lease || !isHeld(lease, now(), leaseMs)) return true;
  }
  return false;
}

/**
 * Returns the result for an account for which no token request can be made. The account is taken out of use if its
 * credential must not be used any more, or if its token has expired and it has no refresh token. Otherwise it stays
 * unchanged.
 */
async function endWithoutRequest(
  { store, events, now }: RefreshOnceDeps,
  account: AccountRow,
  planned: Exclude<Planned, { can: true }>,
  cause: Cause,
): Promise<Renewal> {
  if (planned.why === 'configuration') {
    return { account, failure: { reason: reasonOf(planned.faultyPart), message: planned.message } };
  }
  if (planned.why === 'silent') return { account, failure: planned.failure };
  if (planned.why === 'too_early') return { account };
  const at = now();
  if (planned.why === 'not_bound') {
    const { environmentId, id, version } = account;
    const parked = { status: 'PENDING_AUTH', statusReason: planned.reason, updatedAt: at } as const;
    await store.write(async (tx) => {
      const changed = await tx.accounts.update(environmentId, id, version, parked);
      if (changed) await emitParked(tx, events, account, planned.reason, cause);
    });
    return { account: await store.read.accounts.get(environmentId, id) };
  }
  if (!isExpired(account, at)) return { account };
  return { account: await store.write((tx) => expireAccount(tx, events, account, NO_REFRESH_TOKEN, at, cause)) };
}
