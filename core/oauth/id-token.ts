import {
  type AuthorizationServer,
  type Client,
  clockTolerance,
  customFetch,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  validateApplicationLevelSignature,
} from 'oauth4webapi';
import { isInTime, NO_CLOCK, SIGNATURE_ALGORITHMS } from './jwt-rules.ts';
import { CHECKED_ENDPOINTS, isTransportFailure, type ProtocolFetch } from './transport.ts';

export interface IdTokenCheck {
  /** It must come from the token endpoint, not from a browser. */
  idToken: string;
  /** Must contain the issuer and `jwks_uri`. */
  metadata: AuthorizationServer;
  clientId: string;
  /** null if no nonce was sent. */
  nonce: string | null;
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

export type IdTokenClaims = { ok: true; claims: Record<string, unknown> } | { ok: false; message: string };

/**
 * Verifies an id_token (OpenID Connect Core §3.1.3.7): issuer, audience, nonce, times, and the signature by a published
 * key of the issuer.
 *
 * @returns its claims, or why they cannot be trusted
 * @throws the transport failure of `fetch` if the request for the keys gets no usable response
 */
export async function verifyIdToken(check: IdTokenCheck): Promise<IdTokenClaims> {
  const { idToken, metadata, clientId, nonce, fetch } = check;
  const listed = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  const server = {
    ...metadata,
    id_token_signing_alg_values_supported: listed.filter((alg) => SIGNATURE_ALGORITHMS.includes(alg)),
  };
  const client: Client = { client_id: clientId, [clockTolerance]: NO_CLOCK };
  // The library only validates id_tokens in token responses of the standard format. Some providers use another format,
  // so the id_token is put into a standard response.
  const answer = Response.json({ access_token: 'seen', token_type: 'bearer', id_token: idToken });
  try {
    const expected = { requireIdToken: true, ...(nonce !== null && { expectedNonce: nonce }) };
    const tokens = await processAuthorizationCodeResponse(server, client, answer, expected);
    await validateApplicationLevelSignature(server, answer, {
      ...CHECKED_ENDPOINTS,
      [customFetch]: (url, { headers: { 'user-agent': _theLibrary, ...headers }, ...options }) =>
        fetch(url, { ...options, headers }),
    });
    const claims = getValidatedIdTokenClaims(tokens);
    if (claims === undefined || !isInTime(claims, check.now())) return UNTRUSTED;
    return { ok: true, claims: { ...claims } };
  } catch (error) {
    // A malicious key or token can cause any error, so all errors except transport failures mean "untrusted".
    if (isTransportFailure(error)) throw error;
    return UNTRUSTED;
  }
}

const UNTRUSTED = {
  ok: false,
  message: 'The id_token of the provider is not valid: its signature, issuer, audience, nonce or time is wrong.',
} as const;
