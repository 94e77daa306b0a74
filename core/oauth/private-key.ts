import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { CryptoKey } from 'oauth4webapi';
import type { Secret } from '../secret.ts';
import { withoutByteOrderMark } from '../text/byte-order-mark.ts';
import { OAuthConfigError } from './config-error.ts';

export interface SigningKey {
  key: CryptoKey;
  /** Tells the server which of the client's keys was used; only a JWK has a key id. */
  kid?: string;
}

type Algorithm = Parameters<KeyObject['toCryptoKey']>[0];

/** The supported signature algorithms of client assertions (RFC 7518 §3.1, RFC 8037). */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  RS384: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  RS512: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  PS384: { name: 'RSA-PSS', hash: 'SHA-384' },
  PS512: { name: 'RSA-PSS', hash: 'SHA-512' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
};

/** The minimum size of RFC 7518 §3.3. */
const MIN_RSA_BITS = 2048;

/** The default algorithm for each type of key. */
const USUAL: Readonly<Record<string, string>> = {
  rsa: 'RS256',
  'rsa-pss': 'PS256',
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
  ed25519: 'EdDSA',
};

/**
 * Reads the private key of a client.
 *
 * @param text PKCS #8 or PKCS #1 in PEM, or a JWK; only a JWK can choose the algorithm (`alg`)
 * @throws OAuthConfigError if it is not a private key, is an RSA key that is too short, or cannot sign assertions
 */
export function readPrivateKey(text: Secret): SigningKey {
  const jwk = readJwk(text.reveal());
  try {
    const key = jwk
      ? createPrivateKey({ key: jwk, format: 'jwk' })
      : createPrivateKey(withoutByteOrderMark(text.reveal()));
    if ((key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) < MIN_RSA_BITS)
      throw new OAuthConfigError(`An RSA key must have ${MIN_RSA_BITS} bits or more.`);
    const name = jwk?.['alg'] ?? USUAL[key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? ''];
    const algorithm = typeof name === 'string' && Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
    if (algorithm === undefined)
      throw new OAuthConfigError(
        'The private key of the client has an unsupported type or alg. Use an RSA, P-256, P-384, P-521 or Ed25519 key.',
      );
    const kid = jwk?.['kid'];
    return { key: key.toCryptoKey(algorithm, false, ['sign']), ...(typeof kid === 'string' && { kid }) };
  } catch (cause) {
    if (cause instanceof OAuthConfigError) throw cause;
    // The cause is omitted, because the parser's message may quote the key.
    throw new OAuthConfigError('The client needs an unencrypted private key, in PEM or as a JWK.');
  }
}

/** Parses a JWK (RFC 7517), without checking its members; returns undefined if the text is not a JSON object. */
export function readJwk(text: string): JsonWebKey | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(withoutByteOrderMark(text)) as JsonWebKey;
  } catch {
    return undefined;
  }
}
