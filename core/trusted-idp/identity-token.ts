/** The claims of a token by which we vouch for an account. Times are whole seconds since 1970, UTC. */
export interface IdentityClaims {
  /** Our issuer, exactly as the cloud has it registered and as our discovery document says. */
  iss: string;
  /** The client id that the cloud has registered for our issuer. */
  aud: string;
  sub: string;
  iat: number;
  exp: number;
  jti: string;
}

/** Signs claims as a JWT with a key of our published set, under its `kid`; not with the type of an access token. */
export type SignIdentityToken = (claims: IdentityClaims) => string | Promise<string>;

/** For whom we vouch, and to whom. */
export interface Identity {
  issuer: string;
  audience: string;
  subject: string;
}

/** The token is exchanged immediately; the rest allows for clock differences. */
const LIFE_S = 300;

/**
 * The claims of an identity token (OpenID Connect Core 1.0 §2).
 *
 * @param now milliseconds UTC
 */
export function identityClaims(identity: Identity, now: number, random: (size: number) => Buffer): IdentityClaims {
  const iat = Math.floor(now / 1000);
  const { issuer: iss, audience: aud, subject: sub } = identity;
  return { iss, aud, sub, iat, exp: iat + LIFE_S, jti: random(16).toString('base64url') };
}

/**
 * How the cloud knows an account. It is made of ids that we give out alone: a role that trusts one account, or by a pattern the
 * accounts of one connection, cannot be had by choosing a name for an account.
 */
export function identitySubject(account: { environmentId: string; connectionId: string; id: string }): string {
  return `environment:${account.environmentId}:connection:${account.connectionId}:account:${account.id}`;
}
