import jwt from 'jsonwebtoken';
import type { SigningKey } from './signing-key.ts';

/**
 * Signs an identity token: a JWT that identifies an account to another service, such as a cloud, which verifies it with
 * the published public key. Its type differs from that of an access token, so that neither can be used as the other
 * (RFC 8725 §3.11).
 *
 * @param claims all claims, with times in seconds
 */
export function signIdentityToken(key: SigningKey, claims: object): string {
  return jwt.sign(claims, key.privateKey, { algorithm: 'ES256', header: { alg: 'ES256', typ: 'JWT', kid: key.kid } });
}
