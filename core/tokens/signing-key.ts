import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { Secret } from '../secret.ts';

/** A key pair that signs access tokens and identity tokens with ES256 (ECDSA on P-256 with SHA-256). */
export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638): 43 characters of base64url. */
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The key that signs, and the previous key, which still verifies tokens until its last token has expired. */
export interface SigningKeys {
  readonly current: SigningKey;
  readonly previous?: SigningKey | undefined;
}

export interface PublicJwk {
  kty: 'EC';
  crv: 'P-256';
  x: string;
  y: string;
  kid: string;
  use: 'sig';
  alg: 'ES256';
}

export function generateSigningKey(): SigningKey {
  return fromPrivateKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
}

/** Returns the private key as PKCS #8 in PEM. Store it encrypted. */
export function exportSigningKey(key: SigningKey): Secret {
  return new Secret(key.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
}

/**
 * Reads the output of `exportSigningKey`.
 *
 * @throws TypeError if it is not a private key on P-256
 */
export function importSigningKey(pem: Secret): SigningKey {
  const privateKey = readPrivateKey(pem);
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new TypeError('The key is not a private key on P-256');
  return fromPrivateKey(privateKey);
}

/** Returns the document of `/.well-known/jwks.json` (RFC 7517 §5), which contains public members only. */
export function jwksDocument(keys: SigningKeys): { keys: PublicJwk[] } {
  return { keys: listKeys(keys).map(toPublicJwk) };
}

export function listKeys({ current, previous }: SigningKeys): SigningKey[] {
  return previous === undefined ? [current] : [current, previous];
}

/**
 * Returns the thumbprint of an EC public key (RFC 7638 §3): the SHA-256 digest of the required members of its JWK, in
 * lexical order.
 */
export function thumbprint({ crv, x, y }: Pick<JsonWebKey, 'crv' | 'x' | 'y'>): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv, kty: 'EC', x, y }))
    .digest('base64url');
}

function toPublicJwk({ kid, publicKey }: SigningKey): PublicJwk {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return { kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256' };
}

function fromPrivateKey(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey);
  return { kid: thumbprint(publicKey.export({ format: 'jwk' })), privateKey, publicKey };
}

function readPrivateKey(pem: Secret): KeyObject {
  try {
    return createPrivateKey(pem.reveal());
  } catch {
    // The cause is omitted, because the parser's message may quote the key.
    throw new TypeError('The key is not a private key');
  }
}
