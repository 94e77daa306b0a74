import type { AccountRow, ReadRepositories, RefreshHolder, RefreshLeaseRow, Repositories } from '../../db/store.ts';
import { isObtainable } from './freshness.ts';
import { type FailureReason, isCorrectable, isFailureReason } from './refresh-failure.ts';
import { versionsOf } from './refresh-plan.ts';

/** The right to refresh the credentials of an account, held by one process at a time (threats R1, R4). */
export interface Lease extends RefreshHolder {
  /**
   * The result of an earlier request with these credentials is unknown: the provider may have used up the refresh
   * token.
   */
  interrupted: boolean;
  /** Consecutive failures before this refresh. */
  failures: number;
}

/** Why a refresh cannot be made now. */
export type RefreshBlocker =
  /** Another process holds the lease. */
  | { kind: 'busy' }
  /** An earlier refresh failed; it is not tried again before `retryAfterMs` has passed. */
  | { kind: 'resting'; reason: FailureReason; retryAfterMs: number }
  /**
   * A refresh obtained these credentials a moment ago, and the provider rejected them. It would also reject the next
   * ones.
   */
  | { kind: 'pointless' };

/** `changed`: the account now has other credentials or another status, or was deleted. */
export type Claim = { kind: 'taken'; lease: Lease } | RefreshBlocker | { kind: 'changed' };

export interface ClaimOptions {
  owner: string;
  /** Milliseconds UTC. */
  at: number;
  leaseMs: number;
  /** Whether the refresh was requested because the provider rejected the current access token. */
  refused: boolean;
}

/**
 * The longest pause after a failed refresh. A stored retry time that is further in the future was written by a process
 * whose clock is wrong, and is ignored.
 */
export const MAX_BACKOFF_MS = 15 * 60_000;

/**
 * Takes the lease of an account, provided that its credentials have not changed since they were read. The commit
 * happens before the request is sent, so the lease also records that a request may have been sent (threat R2).
 */
export async function claimLease(tx: Repositories, account: AccountRow, terms: ClaimOptions): Promise<Claim> {
  const { environmentId, id, credentialGeneration: generation } = account;
  const current = await tx.accounts.get(environmentId, id);
  if (!current || !isObtainable(current) || current.credentialGeneration !== generation) return { kind: 'changed' };
  const row = await tx.refreshLeases.get(environmentId, id);
  const obstacle = await currentBlocker(tx, row, current, terms);
  if (obstacle) return obstacle;
  const { owner, at, leaseMs } = terms;
  const after = row?.fencing ?? 0;
  const taken = await tx.refreshLeases.take(environmentId, id, { owner, generation, expiresAt: at + leaseMs, after });
  if (!taken) return { kind: 'busy' };
  const known = row?.generation === generation ? row : undefined;
  const interrupted = known !== undefined && known.state !== 'SETTLED';
  return { kind: 'taken', lease: { owner, fencing: after + 1, interrupted, failures: known?.failures ?? 0 } };
}

/**
 * Returns why the credentials cannot be refreshed now. An earlier failure that a correction can resolve is ignored if
 * the account or its connection was changed since.
 */
export async function currentBlocker(
  read: Pick<ReadRepositories, 'connections'>,
  row: RefreshLeaseRow | undefined,
  account: AccountRow,
  terms: Omit<ClaimOptions, 'owner'>,
): Promise<RefreshBlocker | undefined> {
  const obstacle = blockerOf(row, account.credentialGeneration, terms);
  if (obstacle?.kind !== 'resting' || !isCorrectable(obstacle.reason)) return obstacle;
  const connection = await read.connections.get(account.environmentId, account.connectionId);
  return connection && versionsOf(account, connection) !== row?.versions ? undefined : obstacle;
}

/**
 * Returns why the credentials of this generation cannot be refreshed now. The result of an earlier refresh is ignored
 * if the row records it for another generation.
 */
function blockerOf(
  row: RefreshLeaseRow | undefined,
  generation: number,
  { at, leaseMs, refused }: Omit<ClaimOptions, 'owner'>,
): RefreshBlocker | undefined {
  if (!row) return undefined;
  if (isHeld(row, at, leaseMs)) return { kind: 'busy' };
  const left = (row.retryAt ?? 0) - at;
  if (row.generation !== generation || row.state === 'HELD' || left <= 0 || left > MAX_BACKOFF_MS) return undefined;
  if (row.failures === 0) return refused ? { kind: 'pointless' } : undefined;
  const reason = isFailureReason(row.lastFailure) ? row.lastFailure : 'unreachable';
  return { kind: 'resting', reason, retryAfterMs: left };
}

/**
 * Whether a process holds the lease. A lease whose end is more than two lease times ahead was taken by a process with a
 * wrong clock. It is ignored, because it would block all processes until then (threat R7).
 */
export function isHeld({ state, expiresAt }: RefreshLeaseRow, at: number, leaseMs: number): boolean {
  return state === 'HELD' && expiresAt !== null && expiresAt > at && expiresAt <= at + 2 * leaseMs;
}
