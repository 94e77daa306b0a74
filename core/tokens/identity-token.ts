import jwt from 'jsonwebtoken';
import type { SigningKey } from './signing-key.ts';

/**
 * Signs what this service says of somebody to others: a JWT under a key of the published set. Its type is not that of an access
 * token, so it is none to us, and no access token can pass for it elsewhere (RFC 8725 §3.11).
 *
 * @param claims complete, times in seconds
 */
export function signIdentityToken(key: SigningKey, claims: object): string {
  return jwt.sign(claims, key.privateKey, { algorithm: 'ES256', header: { alg: 'ES256', typ: 'JWT', kid: key.kid } });
}
