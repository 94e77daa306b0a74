import { LRUCache } from 'lru-cache';
import { refuse, type Verification, type VerificationKeys, verifyAccessToken } from './access-token.ts';
import { type AccessToken, checkClaims, type TokenAudience } from './token-claims.ts';

/**
 * The number of characters at the end of the signature that are used as the key of the cache. With the whole token as
 * key, the map would hash the whole token, which would cost more than the rest of a cache hit.
 */
const NAME_CHARS = 43;

interface Entry {
  text: string;
  /** The encoded header, which identifies the key that verified the signature. */
  header: string;
  token: AccessToken;
}

/**
 * Caches tokens whose signature was verified, because verifying a signature is expensive and its result cannot change.
 * Issuer, audience, times and the presence of the signing key are checked on every hit; the caller compares the
 * client's generation.
 */
export class VerifiedTokenCache {
  readonly #entries: LRUCache<string, Entry>;

  /** @param max the maximum number of cached tokens; each takes about 1.5 kB */
  constructor(max = 5000) {
    this.#entries = new LRUCache({ max });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Verifies a token with the same result as `verifyAccessToken`. */
  verify(text: string, keys: VerificationKeys, expected: TokenAudience, now: number): Verification {
    const known = this.#entries.get(nameOf(text));
    // Only texts with a valid format are cached, so an equal text is valid too.
    if (known?.text !== text) return this.#verifyAndStore(text, keys, expected, now);
    if (!keys.has(known.header)) {
      this.#entries.delete(nameOf(text));
      return refuse('header');
    }
    const fault = checkClaims(known.token, expected, now);
    if (fault === 'expired') this.#entries.delete(nameOf(text));
    return fault === null ? { ok: true, token: known.token } : refuse(fault, known.token.clientId);
  }

  #verifyAndStore(text: string, keys: VerificationKeys, expected: TokenAudience, now: number): Verification {
    const verification = verifyAccessToken(text, keys, expected, now);
    if (verification.ok) {
      this.#entries.set(nameOf(text), { text, header: text.slice(0, text.indexOf('.')), token: verification.token });
    }
    return verification;
  }
}

function nameOf(text: string): string {
  return text.slice(-NAME_CHARS);
}
