import type { AccountRow } from '../../db/store.ts';
import type { Details } from '../accounts/details.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Credential } from '../connectors/placement.ts';
import { ApiError } from '../errors.ts';
import { previewSignedV4, type SigningScope, signRequestV4 } from '../trusted-idp/sign-v4.ts';
import { fromTemporaryDetails } from '../trusted-idp/temporary-credentials.ts';

export interface SigningTools {
  /** Milliseconds UTC. */
  now(): number;
}

/** What of an account its signatures depend on. */
export interface SigningParty {
  account: Pick<AccountRow, 'apiConfig'>;
  pattern: AuthPattern;
}

/**
 * The credential of an account whose calls are signed as a whole.
 *
 * @returns undefined for an account whose calls are not signed, or that holds nothing yet to sign with
 * @throws ApiError UNSUPPORTED_CONNECTION_TYPE when the provider does not say what signatures are for
 */
export function signingCredential(party: SigningParty, details: Details, tools: SigningTools): Credential | undefined {
  if (party.pattern.type !== 'TRUSTED_IDP') return undefined;
  const scope = scopeOf(party);
  const credentials = fromTemporaryDetails(details.trusted_idp ?? {});
  if (credentials === null) return undefined;
  const { secretAccessKey, sessionToken } = credentials;
  return {
    kind: 'signer',
    signer: {
      sign: (request) => signRequestV4(request, credentials, scope, tools.now()),
      preview: (request) => previewSignedV4(request, scope),
      secrets: [secretAccessKey.reveal(), sessionToken.reveal()],
    },
  };
}

/** What stands for such a credential in the preview of a call before there is one. */
export function signingPreview(party: SigningParty): Credential | undefined {
  if (party.pattern.type !== 'TRUSTED_IDP') return undefined;
  const scope = scopeOf(party);
  const preview = { sign: () => neverSent(), preview: previewSignedV4Of(scope), secrets: [] };
  return { kind: 'signer', signer: preview };
}

function previewSignedV4Of(scope: SigningScope) {
  return (request: Parameters<typeof previewSignedV4>[0]) => previewSignedV4(request, scope);
}

function neverSent(): never {
  throw new TypeError('A preview is never sent');
}

function scopeOf({ account, pattern }: SigningParty): SigningScope {
  const service = pattern.oauth_config?.signing_service;
  const { region } = account.apiConfig;
  if (service === undefined) {
    throw new ApiError('UNSUPPORTED_CONNECTION_TYPE', 'The provider does not say for which service calls are signed.');
  }
  if (typeof region !== 'string') {
    throw new ApiError('INVALID_API_CONFIG', 'The account names no region of the cloud.', {
      errors: [{ field: 'connected_account.api_config.region', message: 'is required' }],
    });
  }
  return { region, service };
}
