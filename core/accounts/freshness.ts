import type { AccountRow } from '../../db/store.ts';
import { fraction } from '../random.ts';
import { type Details, formOf } from './details.ts';
import { isOwnObtaining, obtainingOf } from './obtaining/kinds.ts';

/** A token is renewed this long before its end, or a tenth of its life where that is less: short lives need their time. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/** The margin varies by this part of itself, so that tokens which were issued together are not renewed together (threat R8). */
const JITTER = 0.2;
/** Clocks of hosts differ by less than this. */
const CLOCK_TOLERANCE_MS = 60_000;

export interface Clock {
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** Whether the service can get tokens for this account at all: it is in use, and of a type of which that is known. */
export function isObtainable(account: AccountRow): boolean {
  return account.status === 'ACTIVE' && obtainingOf(account) !== undefined;
}

/** A token without a known end is never known to have passed it; one that was never had has passed it. */
export function isExpired(account: AccountRow, now: number): boolean {
  return lacksToken(account) || (account.tokenExpiresAt !== null && now >= account.tokenExpiresAt);
}

/** Whether there is a token, or was one. */
export function hadToken(account: AccountRow): boolean {
  return !lacksToken(account) || account.tokenExpiresAt !== null;
}

/** Neither has the service obtained a token, nor was the account given one. */
function lacksToken(account: AccountRow): boolean {
  if (!isOwnObtaining(account) || account.temporarySealed !== null) return false;
  return formOf((account.publicDetails ?? {}) as Details) !== 'oauth_token';
}

/**
 * Whether an account needs another token now: its own has ended or will soon (threat R7), or it never had one. The life of a token counts from
 * the last change of its account, which is never before the token was issued.
 */
export function isDue(account: AccountRow, { now, random }: Clock): boolean {
  const { tokenExpiresAt, updatedAt } = account;
  if (!isObtainable(account)) return false;
  if (lacksToken(account)) return true;
  if (tokenExpiresAt === null) return false;
  const at = now();
  // Written under a clock that was ahead: by today's clock the stored end would come too late.
  if (updatedAt > at + CLOCK_TOLERANCE_MS) return true;
  const left = tokenExpiresAt - at;
  const margin = Math.min(MARGIN_MS, (tokenExpiresAt - updatedAt) * MARGIN_SHARE);
  if (left <= margin * (1 - JITTER)) return true;
  return left <= margin * (1 + JITTER) && left <= margin * (1 + JITTER * (2 * fraction(random) - 1));
}
