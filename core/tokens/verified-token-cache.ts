import { LRUCache } from 'lru-cache';
import { refuse, type Verification, type VerificationKeys, verifyAccessToken } from './access-token.ts';
import { type AccessToken, judgeClaims, type TokenAudience } from './token-claims.ts';

/** Characters of the signature by which a token is looked up: to hash all of it would cost more than everything else here. */
const NAME_CHARS = 43;

interface Entry {
  text: string;
  /** The encoded header: names the key that the signature was verified with. */
  header: string;
  token: AccessToken;
}

/**
 * Remembers whose signature was good: the costly part of verification, and the only one that cannot change. Issuer, audience,
 * times and the presence of the signing key are judged on every hit; the client's generation is for the caller to compare.
 */
export class VerifiedTokenCache {
  readonly #entries: LRUCache<string, Entry>;

  /** @param max number of tokens remembered, about 1.5 kB each */
  constructor(max = 5000) {
    this.#entries = new LRUCache({ max });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** As `verifyAccessToken`. */
  verify(text: string, keys: VerificationKeys, expected: TokenAudience, now: number): Verification {
    const known = this.#entries.get(nameOf(text));
    // Only texts that passed the strict form are kept, so one that equals them has passed it too.
    if (known?.text !== text) return this.#verifyAnew(text, keys, expected, now);
    if (!keys.has(known.header)) {
      this.#entries.delete(nameOf(text));
      return refuse('header');
    }
    const fault = judgeClaims(known.token, expected, now);
    if (fault === 'expired') this.#entries.delete(nameOf(text));
    return fault === null ? { ok: true, token: known.token } : refuse(fault, known.token.clientId);
  }

  #verifyAnew(text: string, keys: VerificationKeys, expected: TokenAudience, now: number): Verification {
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
