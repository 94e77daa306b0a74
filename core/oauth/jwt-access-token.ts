import {
  type AuthorizationServer,
  clockTolerance,
  customFetch,
  type JWTAccessTokenClaims,
  KEY_SELECTION,
  OperationProcessingError,
  validateJwtAccessToken,
} from 'oauth4webapi';
import { isInTime, NO_CLOCK } from './jwt-rules.ts';
import { CHECKED_ENDPOINTS, isTransportFailure, type ProtocolFetch } from './transport.ts';

export type { JWTAccessTokenClaims };

export interface AccessTokenCheck {
  token: string;
  /** Must contain the issuer and `jwks_uri`. The library caches the keys for this object, at most for 5 minutes. */
  server: AuthorizationServer;
  audience: string;
  algorithms: readonly string[];
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

/** `unknownKey`: the issuer's keys, which may be cached, do not contain exactly one key that fits the token. */
export type VerifiedAccessToken = { ok: true; claims: JWTAccessTokenClaims } | { ok: false; unknownKey: boolean };

/**
 * Verifies a JWT access token (RFC 9068 §4): type, issuer, audience, times, and the signature by a published key of the
 * issuer.
 *
 * @throws the transport failure of `fetch` if the request for the keys gets no usable response
 */
export async function verifyJwtAccessToken(check: AccessTokenCheck): Promise<VerifiedAccessToken> {
  const { token, server, audience, algorithms, fetch, now } = check;
  // The library reads tokens from requests. Nothing is sent to this address.
  const request = new Request('https://resource.invalid/', { headers: { authorization: `Bearer ${token}` } });
  try {
    const claims = await validateJwtAccessToken(server, request, audience, {
      ...CHECKED_ENDPOINTS,
      signingAlgorithms: [...algorithms],
      [clockTolerance]: NO_CLOCK,
      [customFetch]: (url, { headers: { 'user-agent': _theLibrary, ...headers }, ...options }) =>
        fetch(url, { ...options, headers, isDocument: true }),
    });
    return isInTime(claims, now()) ? { ok: true, claims } : { ok: false, unknownKey: false };
  } catch (error) {
    // A malicious key or token can cause any error, so all errors except transport failures mean "invalid".
    if (isTransportFailure(error)) throw error;
    return { ok: false, unknownKey: error instanceof OperationProcessingError && error.code === KEY_SELECTION };
  }
}
