import type { AccountRow, ConnectionRow } from '../../db/store.ts';
import { type BoardTools, boardSigner } from '../accounts/board-calls.ts';
import type { Details } from '../accounts/details.ts';
import { clientOf } from '../connections/client.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Credential } from '../connectors/placement.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import { previewSignedV4, type SigningScope, signRequestV4 } from '../trusted-idp/sign-v4.ts';
import { fromTemporaryDetails } from '../trusted-idp/temporary-credentials.ts';
import type { Vault } from '../vault/vault.ts';
import { connectionNotReady } from './next-action.ts';

export interface SigningTools extends BoardTools {
  vault: Vault;
}

/** What of an account its signatures depend on. */
export interface SigningParty {
  account: Pick<AccountRow, 'apiConfig'>;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
}

/**
 * The credential of an account whose calls are signed as a whole.
 *
 * @returns undefined for an account whose calls are not signed, or that holds nothing yet to sign with
 * @throws ApiError UNSUPPORTED_CONNECTION_TYPE when the provider does not say what signatures are for,
 *   CONNECTION_NOT_READY when the connection lacks what they are made with
 */
export function signingCredential(party: SigningParty, details: Details, tools: SigningTools): Credential | undefined {
  switch (party.pattern.type) {
    case 'TRUSTED_IDP':
      return byTemporaryCredentials(party, details, tools);
    case 'BOARD_OAUTH1':
      return byTokenSecret(party, details, tools);
    default:
      return undefined;
  }
}

/** OAuth 1.0a. A token without a secret is carried, not signed with: that is placement's business. */
function byTokenSecret(party: SigningParty, { oauth_token: held }: Details, tools: SigningTools) {
  const { pattern } = party;
  const { access_token: token, token_secret: secret } = held ?? {};
  if (typeof token !== 'string' || typeof secret !== 'string') return undefined;
  try {
    const client = clientOf(tools.vault, party);
    const pair = { accessToken: new Secret(token), tokenSecret: new Secret(secret) };
    return { kind: 'signer', signer: boardSigner(pattern, client, pair, tools) } as const;
  } catch (error) {
    if (!(error instanceof OAuthConfigError)) throw error;
    throw connectionNotReady(`The calls of the account cannot be signed. ${error.message}`, party.connection);
  }
}

function byTemporaryCredentials(party: SigningParty, details: Details, tools: SigningTools): Credential | undefined {
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
export function signingPreview(party: Omit<SigningParty, 'connection' | 'provider'>): Credential | undefined {
  if (party.pattern.type !== 'TRUSTED_IDP') return undefined;
  const scope = scopeOf(party);
  const signer: RequestSigner = {
    sign: () => {
      throw new TypeError('A preview is never sent');
    },
    preview: (request) => previewSignedV4(request, scope),
    secrets: [],
  };
  return { kind: 'signer', signer };
}

function scopeOf({ account, pattern }: Omit<SigningParty, 'connection' | 'provider'>): SigningScope {
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
