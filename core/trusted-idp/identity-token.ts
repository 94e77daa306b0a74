/** The claims of an identity token for an account. Times are whole seconds since 1970, UTC. */
export interface IdentityClaims {
  /** The issuer, exactly as registered at the cloud and published in the discovery document. */
  iss: string;
  /** The client id that is registered at the cloud for this issuer. */
  aud: string;
  sub: string;
  iat: number;
  exp: number;
  jti: string;
}

/**
 * Signs claims as a JWT with a private key whose public key is published. The type of the JWT differs from that of an
 * access token.
 */
export type SignIdentityToken = (claims: IdentityClaims) => string | Promise<string>;

/** The account that a token identifies, and the cloud that it is for. */
export interface Identity {
  issuer: string;
  audience: string;
  subject: string;
}

/** The lifetime of a token in seconds. It is used immediately; the rest allows for clock differences. */
const LIFE_S = 300;

/**
 * Returns the claims of an identity token (OpenID Connect Core 1.0 §2).
 *
 * @param now milliseconds UTC
 */
export function identityClaims(identity: Identity, now: number, random: (size: number) => Buffer): IdentityClaims {
  const iat = Math.floor(now / 1000);
  const { issuer: iss, audience: aud, subject: sub } = identity;
  return { iss, aud, sub, iat, exp: iat + LIFE_S, jti: random(16).toString('base64url') };
}

/**
 * Returns the subject that identifies an account to the cloud. It contains only ids that Valetkey assigns. If it
 * contained names, a user could choose a name that matches a role which trusts other accounts.
 */
export function identitySubject(account: { environmentId: string; connectionId: string; id: string }): string {
  return `environment:${account.environmentId}:connection:${account.connectionId}:account:${account.id}`;
}
