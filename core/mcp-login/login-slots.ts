import { LRUCache } from 'lru-cache';
import { MCP_LOGIN } from '../budgets.ts';

/** Limits the logins that begin from one IP address, so that one client cannot use up the logins of all users. */
export interface LoginSlots {
  /** Counts a login. @returns false if too many logins began from the address */
  take(environmentId: string, address: string): boolean;
}

/** The number of addresses that are counted; the least recently used ones are forgotten. */
const ADDRESSES = 10_000;

/**
 * Counts the logins from each IP address, in periods of `MCP_LOGIN.loginMs`. Each process counts separately.
 *
 * @param now milliseconds UTC
 */
export function createLoginSlots(now: () => number): LoginSlots {
  const counts = new LRUCache<string, { begun: number; until: number }>({ max: ADDRESSES });
  return {
    take(environmentId, address) {
      const key = `${environmentId} ${address}`;
      const at = now();
      const known = counts.get(key);
      const isCurrent = known !== undefined && at < known.until && known.until - at <= MCP_LOGIN.loginMs;
      const count = isCurrent ? known : { begun: 0, until: at + MCP_LOGIN.loginMs };
      if (count.begun >= MCP_LOGIN.loginsOfAddress) return false;
      count.begun += 1;
      counts.set(key, count);
      return true;
    },
  };
}
