import { LRUCache } from 'lru-cache';
import { MCP_LOGIN } from '../budgets.ts';

/**
 * Limits the logins that begin from one IP address in one environment. Without this limit, one attacker could begin as
 * many logins as the environment allows, and users could not log in.
 */
export interface LoginSlots {
  /** Counts a login. @returns false, without counting it, if too many logins began from the address in this period */
  take(environmentId: string, address: string): boolean;
}

/**
 * The maximum number of pairs of environment and address whose logins are counted. Beyond it, the least recently used
 * pair is forgotten.
 */
const ADDRESSES = 10_000;

/**
 * Counts the logins from each IP address. A period begins with the first login and lasts `MCP_LOGIN.loginMs`. Each
 * process counts separately.
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
