import type { EnvironmentId, EnvironmentRow } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { Discovery } from '../oauth/discovery.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import type { Schemas } from '../present/schemas.ts';

export interface CheckDeps {
  discovery: Discovery;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
}

const NEEDED = {
  OIDC: ['authorization_endpoint', 'token_endpoint', 'jwks_uri'],
  JWT: ['jwks_uri'],
} as const;

/**
 * Checks the metadata of an issuer before it is stored as a login provider, so that a wrong address is noticed before a
 * user logs in. An issuer that cannot be reached at the moment is accepted.
 *
 * @throws ApiError VALIDATION_FAILED if the issuer has no metadata, or metadata that cannot be used
 */
export async function checkLoginProvider(
  { discovery, fetchFor }: CheckDeps,
  { id: partition }: EnvironmentRow,
  { type, issuer }: Schemas['SetMcpLoginProviderRequest'],
): Promise<void> {
  const found = await discovery.discover({ issuer, partition, fetchFor: (origins) => fetchFor(partition, origins) });
  if (found.ok) {
    const missing = NEEDED[type].find((name) => found.metadata[name] === undefined);
    if (missing) throw invalid(`has metadata without ${missing}, which the type ${type} requires`);
  } else if (found.kind === 'no_metadata' || found.kind === 'invalid_metadata') {
    throw invalid(`cannot be used: ${found.message}`);
  }
}

function invalid(message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'The login provider is invalid.', {
    errors: [{ field: 'issuer', message }],
  });
}
