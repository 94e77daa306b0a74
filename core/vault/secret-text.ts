import { Secret } from '../secret.ts';

/**
 * The bytes of a secret, for the caller to wipe.
 *
 * @throws TypeError for text with a lone surrogate, which UTF-8 would alter without a word
 */
export function encodeSecret(secret: Secret): Buffer {
  const text = secret.reveal();
  if (!text.isWellFormed()) throw new TypeError('The secret is not well-formed Unicode');
  return Buffer.from(text, 'utf8');
}

/** The secret that these bytes spell. Wipes them. */
export function decodeSecret(bytes: Buffer): Secret {
  const secret = new Secret(bytes.toString('utf8'));
  bytes.fill(0);
  return secret;
}
