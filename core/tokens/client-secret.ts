import { Secret } from '../secret.ts';
import type { Digester } from '../vault/digest.ts';

const PREFIX = 'vks_';
const BYTES = 32;
const PURPOSE = 'client secret';
/** A client has one secret, or two during a rotation. */
const SLOTS = 2;
const NOBODY = Buffer.alloc(32);

/**
 * Creates a client secret: `vks_` and 256 random bits in base64url (43 characters). The prefix lets secret scanners
 * find leaked secrets.
 */
export function mintClientSecret(random: (size: number) => Buffer): Secret {
  return new Secret(PREFIX + random(BYTES).toString('base64url'));
}

/** Returns the 32-byte digest of a client secret, which is stored instead of the secret. */
export function digestClientSecret(secret: Secret, digester: Digester): Buffer {
  return digester.digest(PURPOSE, secret.reveal());
}

/**
 * Whether the presented secret is one of the client's. Always computes one digest and two comparisons in constant time.
 *
 * @param liveDigests of the client's secrets that have not expired, at most two; none for an unknown or disabled
 * client, so that its response takes as long as any other
 */
export function verifyClientSecret(presented: Secret, liveDigests: readonly Buffer[], digester: Digester): boolean {
  if (liveDigests.length > SLOTS) throw new RangeError(`A client has at most ${SLOTS} active secrets`);
  const digest = digestClientSecret(presented, digester);
  let matches = 0;
  for (let slot = 0; slot < SLOTS; slot++) {
    const equal = digester.equal(digest, liveDigests[slot] ?? NOBODY);
    matches += Number(equal) * Number(slot < liveDigests.length);
  }
  return matches > 0;
}
