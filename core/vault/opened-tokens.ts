import { LRUCache } from 'lru-cache';
import type { SealedTokens } from './sealed-token.ts';

/**
 * The number of characters at the end of a token that are used as the key of the cache. They contain the tag, so two
 * tokens that were opened successfully have different ones.
 */
const NAME_CHARS = 43;

interface Opened {
  token: string;
  purpose: string;
  associatedData: readonly string[];
  payload: string;
  /** Milliseconds UTC. */
  expiresAt: number;
}

/**
 * Opens tokens that clients send with every request, and remembers what they contain, because decrypting a token again
 * cannot give another result. The expiry is checked at each use; the caller checks whether the token was revoked.
 *
 * @param now milliseconds UTC
 * @param max the maximum number of remembered tokens; each takes about 1.5 kB
 */
export function createOpenedTokens(
  sealed: Pick<SealedTokens, 'openUntil'>,
  now: () => number,
  max = 1000,
): Pick<SealedTokens, 'open'> {
  const entries = new LRUCache<string, Opened>({ max });
  return {
    open(purpose, associatedData, token) {
      const name = token.slice(-NAME_CHARS);
      const known = entries.get(name);
      if (known?.token === token && known.purpose === purpose && isEqual(known.associatedData, associatedData)) {
        if (known.expiresAt > now()) return known.payload;
        entries.delete(name);
        return null;
      }
      const opened = sealed.openUntil(purpose, associatedData, token);
      if (opened) entries.set(name, { token, purpose, associatedData, ...opened });
      return opened?.payload ?? null;
    },
  };
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, place) => part === b[place]);
}
