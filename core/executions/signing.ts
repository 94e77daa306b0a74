import type { AccountRow, ConnectionRow } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import type { SignerDeps } from '../authorization/module.ts';
import { moduleOf } from '../authorization/registry.ts';
import { clientOf } from '../connections/client.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Credential } from '../connectors/credential.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Vault } from '../vault/vault.ts';
import { connectionNotReady } from './next-action.ts';

export interface SigningDeps extends Pick<SignerDeps, 'now' | 'random'> {
  vault: Vault;
}

/** The data that determines the signatures of an account's calls. */
export interface SigningAccount {
  account: Pick<AccountRow, 'apiConfig'>;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
}

/**
 * Returns the credential of an account whose calls are signed as a whole.
 *
 * @returns undefined for an account whose calls are not signed, or that has no credentials to sign with yet
 * @throws ApiError UNSUPPORTED_CONNECTION_TYPE if the provider's definition lacks the service name for signatures,
 * CONNECTION_NOT_READY if the connection lacks the client to sign with
 */
export function signingCredential(
  context: SigningAccount,
  details: Details,
  deps: SigningDeps,
): Credential | undefined {
  const { pattern, account, connection } = context;
  const { signing } = moduleOf(pattern.type);
  if (!signing) return undefined;
  const { vault, now, random } = deps;
  const signed = { pattern, apiConfig: account.apiConfig, details };
  try {
    const signer = signing.signer(signed, { client: () => clientOf(vault, context), now, random });
    return signer && { kind: 'signer', signer };
  } catch (error) {
    if (!(error instanceof OAuthConfigError)) throw error;
    throw connectionNotReady(`The calls of the account cannot be signed. ${error.message}`, connection);
  }
}

/**
 * Returns a placeholder for the preview of a signed call whose credential has not been obtained yet; undefined if the
 * pattern does not obtain credentials to sign with.
 */
export function signingPreview({
  account,
  pattern,
}: Pick<SigningAccount, 'account' | 'pattern'>): Credential | undefined {
  const signer = moduleOf(pattern.type).signing?.preview?.({ pattern, apiConfig: account.apiConfig });
  return signer && { kind: 'signer', signer };
}
