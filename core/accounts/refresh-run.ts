import type { AccountRow, EnvironmentId, Store } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import { outcomeOfFailure } from '../oauth/refresh-outcome.ts';
import type { TokenSet } from '../oauth/token-response.ts';
import { isTransportFailure, type ProtocolFetch } from '../oauth/transport.ts';
import { fraction } from '../random.ts';
import { writePersistently } from '../scheduling/persistent-write.ts';
import type { Clock } from './freshness.ts';
import type { Obtained, ObtainOutcome } from './obtaining/request.ts';
import { type FailureReason, type RefreshFailure, reasonOf } from './refresh-failure.ts';
import { claimLease, type Lease, MAX_BACKOFF_MS, type RefreshBlocker } from './refresh-lease.ts';
import type { PlanDeps, RefreshPlan } from './refresh-plan.ts';
import { type SettleDeps, storeFailure, storeRefusal, storeTokens } from './refresh-settle.ts';

/** A logger that takes fields and a sentence. No field is a secret. */
export interface RefreshLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RunDeps extends PlanDeps, SettleDeps, Clock {
  store: Store;
  /** Returns a fetch that can reach only these origins. It times out after 15 s; the lease expires after 30 s. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  log?: RefreshLog;
  /**
   * Receives tokens that arrived too late for their account and revokes them at the provider, unless another account
   * uses the grant (threat R3).
   */
  abandoned?(late: AbandonedTokens): Promise<void>;
  /** Counts a request for a new token. */
  counted?(connector: string, outcome: 'success' | 'refused' | 'failed'): void;
  /** Whether the account's authorization server was replaced, so that its refresh token is useless. */
  isServerReplaced?(plan: RefreshPlan): Promise<boolean>;
  leaseMs: number;
  /** Identifies this process among those that share the database. */
  owner: string;
}

export interface AbandonedTokens {
  /** The account as it was when the tokens were requested. */
  account: AccountRow;
  /**
   * The account as it is now: deleted (undefined), out of use, or with other credentials, which may belong to the same
   * grant.
   */
  current: AccountRow | undefined;
  tokens: TokenSet;
}

/**
 * The result of a refresh: the account as it is now and, if its token was not replaced because of a failure, that
 * failure.
 */
export interface Renewal {
  /** undefined if the account was deleted. */
  account: AccountRow | undefined;
  failure?: RefreshFailure;
}

export type Run = { kind: 'done'; renewal: Renewal } | { kind: 'busy' | 'changed' };

/**
 * The wait after a failure doubles from one second to one minute. Each wait is shortened by a random part, up to half
 * of it.
 */
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/**
 * Runs one refresh: takes the lease, requests the token and stores the result.
 *
 * @param refused whether the provider rejected the current token
 * @throws StorageError; any unexpected error of the token request, after the lease was released and the result of the
 * request was recorded as unknown
 */
export async function runRefresh(deps: RunDeps, plan: RefreshPlan, cause: Cause, refused: boolean): Promise<Run> {
  const { store, owner, leaseMs, now } = deps;
  const { account } = plan;
  const claim = await store.write((tx) => claimLease(tx, account, { owner, at: now(), leaseMs, refused }));
  if (claim.kind === 'taken') return { kind: 'done', renewal: await obtain(deps, plan, claim.lease, cause) };
  return claim.kind === 'changed' ? { kind: 'changed' } : skippedRun(claim, account);
}

/** The result of a refresh that was not attempted. `busy`: another process is refreshing. */
export function skippedRun(obstacle: RefreshBlocker, account: AccountRow): Run {
  if (obstacle.kind === 'busy') return { kind: 'busy' };
  if (obstacle.kind === 'pointless') return { kind: 'done', renewal: { account } };
  const { reason, retryAfterMs } = obstacle;
  const seconds = Math.ceil(retryAfterMs / 1000);
  const message = `An earlier attempt failed (${reason}). The next one is possible in ${seconds} seconds.`;
  return { kind: 'done', renewal: { account, failure: { reason, retryAfterMs, message } } };
}

async function obtain(deps: RunDeps, plan: RefreshPlan, lease: Lease, cause: Cause): Promise<Renewal> {
  const { account } = plan;
  const outcome = await ask(deps, plan, lease, cause);
  deps.counted?.(account.connector, outcomeName(outcome));
  if (outcome.ok) return keep(deps, plan, lease, outcome.obtained);
  deps.log?.warn({ account_id: account.id, kind: outcome.kind, reason: outcome.message }, 'refresh failed');
  const isReplaced = (await deps.isServerReplaced?.(plan)) ?? false;
  if (isReplaced || outcome.kind === 'refused') {
    const message = isReplaced ? REPLACED : outcome.message;
    return writePersistently(deps, (tx) => storeRefusal(tx, deps, plan, lease, message, deps.now(), cause));
  }
  const reason = outcome.kind === 'client' ? reasonOf(outcome.faultyPart) : outcome.reason;
  const { mayBeSpent = false, retryAfterMs } = outcome.kind === 'client' ? {} : outcome;
  const failure = { reason, message: outcome.message, mayBeSpent, retryAfterMs };
  const delayMs = await rest(deps, plan, lease, failure, cause);
  return { account, failure: { reason, message: outcome.message, retryAfterMs: delayMs } };
}

function outcomeName(outcome: ObtainOutcome): 'success' | 'refused' | 'failed' {
  if (outcome.ok) return 'success';
  return outcome.kind === 'refused' ? 'refused' : 'failed';
}

const SERVER_FAILED = 'Valetkey failed while it requested a token. Its log contains the error.';
const REPLACED = 'The MCP server now uses another authorization server than when the account was connected.';

async function ask(deps: RunDeps, plan: RefreshPlan, lease: Lease, cause: Cause): Promise<ObtainOutcome> {
  const { origin, account } = plan;
  try {
    const fetch = await deps.fetchFor(account.environmentId, [origin]);
    return await plan.send(fetch, deps.now);
  } catch (error) {
    if (isTransportFailure(error)) return outcomeOfFailure(error);
    await rest(deps, plan, lease, { reason: 'invalid_response', message: SERVER_FAILED, mayBeSpent: true }, cause);
    throw error;
  }
}

/** Commits the tokens before they are used, because rotated tokens that are lost cannot be obtained again. */
async function keep(deps: RunDeps, plan: RefreshPlan, lease: Lease, obtained: Obtained): Promise<Renewal> {
  const settled = await writePersistently(deps, (tx) => storeTokens(tx, deps, plan, lease, obtained, deps.now()));
  if (settled.kind === 'stored') return settled;
  const { account } = plan;
  deps.log?.warn({ account_id: account.id, kind: settled.kind }, 'the refresh result came too late to be stored');
  // `lost`: another process took over the lease. Its tokens may belong to the same grant, so these tokens must not be
  // revoked.
  const { tokens } = obtained;
  if (settled.kind !== 'lost' && tokens !== null) {
    await deps.abandoned?.({ account, current: settled.account, tokens }).catch((err: unknown) => {
      deps.log?.error({ account_id: account.id, err }, 'superseded tokens could not be queued for revocation');
    });
  }
  return settled;
}

interface Failed {
  reason: FailureReason;
  message: string;
  mayBeSpent: boolean;
  retryAfterMs?: number | undefined;
}

async function rest(
  deps: RunDeps,
  plan: RefreshPlan,
  lease: Lease,
  { reason, message, mayBeSpent, retryAfterMs = 0 }: Failed,
  cause: Cause,
): Promise<number> {
  const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(lease.failures, 16));
  const jittered = backoff * (1 - fraction(deps.random) / 2);
  const delayMs = Math.ceil(Math.min(MAX_BACKOFF_MS, Math.max(jittered, retryAfterMs)));
  const at = deps.now();
  const failure = { reason, message, mayBeSpent: mayBeSpent && plan.spends, retryAt: at + delayMs };
  await writePersistently(deps, (tx) => storeFailure(tx, deps, plan, lease, failure, at, cause));
  return delayMs;
}
