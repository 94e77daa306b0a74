import { sign } from 'node:crypto';
import type { ServiceAccount } from './service-account.ts';

/** The lifetime of an assertion in seconds. Providers reject longer lifetimes. */
const LIFE_S = 3600;

/** The parameters of the requested token. */
export interface Delegation {
  account: ServiceAccount;
  /** The user that the service account acts for. */
  subject: string;
  scopes: readonly string[];
  /** The audience of the assertion: the token endpoint, exactly as the provider writes it. */
  audience: string;
}

/**
 * Returns the claims with which a service account acts for a user (RFC 7523 §3). The scopes are a claim, so that they
 * are signed.
 *
 * @param now milliseconds UTC
 */
export function delegationClaims({ account, subject, scopes, audience }: Delegation, now: number) {
  const iat = Math.floor(now / 1000);
  return {
    iss: account.clientEmail,
    sub: subject,
    scope: scopes.join(' '),
    aud: audience,
    iat,
    exp: iat + LIFE_S,
  };
}

/**
 * Returns the assertion: a JWT signed with RS256 (RFC 7515 §3.1). Anyone who has the assertion can get the token, so
 * the assertion must be kept secret too.
 *
 * @param now milliseconds UTC
 */
export function signDelegation(delegation: Delegation, now: number): string {
  const { privateKey, keyId } = delegation.account;
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) };
  const signed = `${encoded(header)}.${encoded(delegationClaims(delegation, now))}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
