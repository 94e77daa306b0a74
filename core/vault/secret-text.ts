import { Secret } from '../secret.ts';

/**
 * Returns the bytes of a secret. The caller must wipe them.
 *
 * @throws TypeError for text with a lone surrogate, which UTF-8 would silently change
 */
export function encodeSecret(secret: Secret): Buffer {
  const text = secret.reveal();
  if (!text.isWellFormed()) throw new TypeError('The secret is not well-formed Unicode');
  return Buffer.from(text, 'utf8');
}

/** Returns the secret that the bytes encode, and wipes them. */
export function decodeSecret(bytes: Buffer): Secret {
  const secret = new Secret(bytes.toString('utf8'));
  bytes.fill(0);
  return secret;
}
