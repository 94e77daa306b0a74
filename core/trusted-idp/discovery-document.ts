/** The document that a cloud reads to verify identity tokens: `{issuer}/.well-known/openid-configuration`. */
export interface DiscoveryDocument {
  issuer: string;
  jwks_uri: string;
  response_types_supported: string[];
  subject_types_supported: string[];
  id_token_signing_alg_values_supported: string[];
  claims_supported: string[];
}

/**
 * Returns the metadata of an issuer of identity tokens (OpenID Connect Discovery 1.0 §3). Users cannot sign in at this
 * issuer, so it has no authorization endpoint.
 *
 * @param issuer an https URL without a query; every token has exactly this issuer
 * @param algorithms of the published keys (RFC 7518 §3.1)
 */
export function discoveryDocument(issuer: string, jwksUri: string, algorithms: readonly string[]): DiscoveryDocument {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...algorithms],
    claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
  };
}
