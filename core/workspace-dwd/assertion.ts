import { sign } from 'node:crypto';
import type { ServiceAccount } from './service-account.ts';

/** Providers take no assertion that lives longer. */
const LIFE_S = 3600;

/** For whom a token is asked for. */
export interface Delegation {
  account: ServiceAccount;
  /** The user that the service account stands for. */
  subject: string;
  scopes: readonly string[];
  /** Who takes the assertion: the token endpoint, written as the provider writes it. */
  audience: string;
}

/**
 * The claims by which a service account stands for a user (RFC 7523 §3). Scopes are asked for in a claim, so that they are signed.
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
 * The assertion: a JWT signed with RS256 (RFC 7515 §3.1). Its holder can get the token, so it is as secret as the token.
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
