import type { AccountRow } from '../../db/store.ts';
import type { AuthorizationType } from '../connectors/auth-pattern.ts';

/** A token is renewed this long before its end, or a tenth of its life where that is less: short lives need their time. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/** The margin varies by this part of itself, so that tokens which were issued together are not renewed together (threat R8). */
const JITTER = 0.2;
/** Clocks of hosts differ by less than this. */
const CLOCK_TOLERANCE_MS = 60_000;

const REFRESHABLE: ReadonlySet<AuthorizationType> = new Set(['OAUTH', 'SMART_FHIR', 'OAUTH_M2M']);

export interface Clock {
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** Whether refreshes are for this account at all: it is in use, and its tokens are of a kind that has them. */
export function isRefreshable(account: AccountRow): boolean {
  return account.status === 'ACTIVE' && REFRESHABLE.has(account.authorizationType);
}

/** A token without a known end is never known to have passed it. */
export function isExpired(account: AccountRow, now: number): boolean {
  return account.tokenExpiresAt !== null && now >= account.tokenExpiresAt;
}

/**
 * Whether the token of an account should be renewed now: it has ended, or will soon (threat R7). The life of a token counts from
 * the last change of its account, which is never before the token was issued.
 */
export function isDue(account: AccountRow, { now, random }: Clock): boolean {
  const { tokenExpiresAt, updatedAt } = account;
  if (tokenExpiresAt === null || !isRefreshable(account)) return false;
  const at = now();
  // Written under a clock that was ahead: by today's clock the stored end would come too late.
  if (updatedAt > at + CLOCK_TOLERANCE_MS) return true;
  const left = tokenExpiresAt - at;
  const margin = Math.min(MARGIN_MS, (tokenExpiresAt - updatedAt) * MARGIN_SHARE);
  if (left <= margin * (1 - JITTER)) return true;
  return left <= margin * (1 + JITTER) && left <= margin * (1 + JITTER * (2 * fraction(random) - 1));
}

/** At least 0, less than 1. */
export function fraction(random: (size: number) => Buffer): number {
  return random(4).readUInt32BE() / 2 ** 32;
}
