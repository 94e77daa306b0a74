import type { AccountRow } from '../../db/store.ts';
import { fraction } from '../random.ts';
import type { Details } from './authorization-details.ts';
import { formOf } from './details.ts';
import { canObtainAgain, obtainingOf } from './obtaining/kinds.ts';

/** A token is renewed one minute before it expires, or a tenth of its lifetime before it expires if that is shorter. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/**
 * The margin varies randomly by up to this fraction in both directions, so that tokens which were issued together are
 * not renewed together (threat R8).
 */
const JITTER = 0.2;
/** The clocks of hosts are assumed to differ by less than this. */
const CLOCK_TOLERANCE_MS = 60_000;

export interface Clock {
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** Whether Valetkey can obtain tokens for this account: it is active, and its type allows it. */
export function isObtainable(account: AccountRow): boolean {
  return account.status === 'ACTIVE' && obtainingOf(account) !== undefined;
}

/**
 * Whether the token has expired. A token without a known expiry counts as valid. A missing token that Valetkey can
 * obtain counts as expired.
 */
export function isExpired(account: AccountRow, now: number): boolean {
  return lacksToken(account) || (account.tokenExpiresAt !== null && now >= account.tokenExpiresAt);
}

/** Whether the account has a token or had one before. */
export function hasOrHadToken(account: AccountRow): boolean {
  return !lacksToken(account) || account.tokenExpiresAt !== null;
}

/** Whether no token is stored, although Valetkey obtains tokens for this account. */
function lacksToken(account: AccountRow): boolean {
  if (!canObtainAgain(account) || account.temporarySealed !== null) return false;
  return formOf((account.publicDetails ?? {}) as Details) !== 'oauth_token';
}

/**
 * Whether an account needs a new token now and Valetkey can obtain one: its token has expired or will soon (threat R7),
 * or it has none. The lifetime of a token is counted from the last change of its account, which cannot be before the
 * token was issued.
 */
export function isDue(account: AccountRow, { now, random }: Clock): boolean {
  const { tokenExpiresAt, updatedAt } = account;
  if (!isObtainable(account)) return false;
  if (lacksToken(account)) return true;
  if (tokenExpiresAt === null) return false;
  const at = now();
  // The account was written by a process whose clock was ahead, so the stored expiry is too late.
  if (updatedAt > at + CLOCK_TOLERANCE_MS) return true;
  const left = tokenExpiresAt - at;
  const margin = Math.min(MARGIN_MS, (tokenExpiresAt - updatedAt) * MARGIN_SHARE);
  if (left <= margin * (1 - JITTER)) return true;
  return left <= margin * (1 + JITTER) && left <= margin * (1 + JITTER * (2 * fraction(random) - 1));
}
