import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { readJwk } from '../oauth/private-key.ts';
import { Secret } from '../secret.ts';
import { withoutByteOrderMark } from '../text/byte-order-mark.ts';

/** A key that authenticates a client at FHIR servers. */
export interface SmartClientKey {
  /** The private key as a JWK with its algorithm and key id: the secret of a `private_key_jwt` client. */
  secret: Secret;
  /** The public key in the format for registration at the server. */
  publicJwk: JsonWebKey;
}

type Algorithm = 'RS384' | 'ES384';

const MIN_BITS = 2048;
/** The members of a public key that its thumbprint is computed from, in order (RFC 7638 §3.2). */
const REQUIRED_MEMBERS: Readonly<Record<Algorithm, readonly string[]>> = {
  RS384: ['e', 'kty', 'n'],
  ES384: ['crv', 'kty', 'x', 'y'],
};

/**
 * Parses the private key of a client of FHIR servers. SMART defines two signature algorithms and requires a key id
 * (SMART App Launch 2.2, "Client Authentication: Asymmetric"). RS384 is used for RSA and ES384 for P-384, regardless of
 * `alg` in a JWK.
 *
 * @param text PKCS #8 or PKCS #1 in PEM, or a JWK; the default key id is the thumbprint (RFC 7638)
 * @throws OAuthConfigError if it is not such a private key; neither message nor cause contains a part of the key
 */
export function readSmartClientKey(text: Secret): SmartClientKey {
  const given = readJwk(text.reveal());
  const key = privateKeyOf(text, given);
  const alg = algorithmOf(key);
  const bare = createPublicKey(key).export({ format: 'jwk' });
  const kid = typeof given?.['kid'] === 'string' && given['kid'] !== '' ? given['kid'] : thumbprint(bare, alg);
  const named = { alg, kid, use: 'sig' };
  return {
    secret: new Secret(JSON.stringify({ ...key.export({ format: 'jwk' }), ...named })),
    publicJwk: { ...bare, ...named },
  };
}

function privateKeyOf(text: Secret, jwk: JsonWebKey | undefined): KeyObject {
  try {
    return jwk ? createPrivateKey({ key: jwk, format: 'jwk' }) : createPrivateKey(withoutByteOrderMark(text.reveal()));
  } catch {
    // The cause is omitted, because the parser's message may quote the key.
    throw new OAuthConfigError('The client needs an unencrypted private key, in PEM or as a JWK.');
  }
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Algorithm {
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_BITS) return 'RS384';
  if (type === 'ec' && details?.namedCurve === 'secp384r1') return 'ES384';
  throw new OAuthConfigError(
    `The key must be an RSA key of ${MIN_BITS} bits or more, or an EC key on the curve P-384.`,
  );
}

function thumbprint(jwk: JsonWebKey, alg: Algorithm): string {
  const members = REQUIRED_MEMBERS[alg].map((name) => [name, jwk[name]]);
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(members)))
    .digest('base64url');
}
