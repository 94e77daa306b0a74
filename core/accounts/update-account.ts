import type { AccountRow, ConnectionRow, Transaction } from '../../db/store.ts';
import { isClientPattern } from '../authorization/roles.ts';
import { completeConnection } from '../connections/complete.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Cause } from '../events/events.ts';
import { VaultError } from '../vault/errors.ts';
import { type AccountInput, CONFIG_FIELD, checkAccount, definitionOf, firstExpiry } from './account-input.ts';
import type { Details } from './authorization-details.ts';
import { bindTo } from './binding.ts';
import type { AccountDeps, CreateDeps } from './create-account.ts';
import { NO_CREDENTIALS, openGivenCredentials, sealCredentials } from './credentials.ts';
import { areUsable, formOf, mergeDetails, publicPart } from './details.ts';
import { type JsonObject, mergeConfig } from './merge.ts';
import { mergeCredential } from './merge-credential.ts';
import { emitParked } from './park.ts';
import { orderAccountRevocation, type RevocationDeps } from './revocation-order.ts';

export type UpdateDeps = CreateDeps & RevocationDeps;

export interface AccountUpdate {
  account: AccountRow;
  /** Whether the credentials were replaced. */
  replaced: boolean;
}

/**
 * Updates an account: `api_config` is merged, and the given fields of the credentials change. If the request contains
 * credentials and the result is usable, the account becomes ACTIVE. A change takes the account out of use if it leaves
 * no usable credentials, or if the stored credentials must not be used for the new configuration. Tokens that Valetkey
 * obtained with replaced values are removed and revoked.
 *
 * @throws ApiError INVALID_API_CONFIG, INVALID_AUTHORIZATION_DETAILS, UNKNOWN_CONNECTOR, UNSUPPORTED_CONNECTION_TYPE;
 * VaultError if the stored credentials cannot be decrypted and the request does not replace them
 */
export async function updateAccount(
  tx: Transaction,
  deps: UpdateDeps,
  account: AccountRow,
  input: AccountInput,
  cause: Cause,
): Promise<AccountUpdate> {
  const { environmentId } = account;
  const connection = (await tx.connections.get(environmentId, account.connectionId)) as ConnectionRow;
  const definition = await definitionOf(tx, deps, environmentId, connection);
  const { pattern } = definition;
  const apiConfig = mergeConfig(account.apiConfig, input.api_config ?? {}, CONFIG_FIELD);
  const change = input.authorization_details ?? {};
  const brings = formOf(change) !== null;
  const stored = storedDetails(deps, account, brings);
  // An account that uses the client of its connection has no details. An empty object in the request activates it.
  const isBare = input.authorization_details !== undefined && formOf(mergeDetails(stored, change)) === null;
  const replaced = brings || (isBare && isClientPattern(pattern) && account.status !== 'ACTIVE');
  const { details, fields, breach } = mergeCredential(account, definition, apiConfig, stored, change);
  checkAccount(definition, connection, apiConfig, details, change, fields);
  const usable = areUsable(pattern, details, apiConfig);
  const at = deps.now();
  const credentialGeneration = account.credentialGeneration + 1;
  const holdsSecrets = formOf(stored) !== null;
  const bound = bindTo(definition, apiConfig, details, fields);
  const hasChanged = replaced || JSON.stringify(apiConfig) !== JSON.stringify(account.apiConfig);
  const outdated = breach !== null || settingsDiffer(pattern, account.apiConfig, apiConfig);
  if (account.temporarySealed !== null && (replaced || outdated)) await orderAccountRevocation(tx, deps, account);
  const reason = usable ? (replaced || !holdsSecrets ? null : breach) : NOT_USABLE;
  const parks = reason !== null && account.status === 'ACTIVE';
  await tx.accounts.update(environmentId, account.id, account.version, {
    apiConfig,
    updatedAt: hasChanged ? at : account.updatedAt,
    ...(replaced && {
      ...bound,
      publicDetails: publicPart(details, fields),
      credentialGeneration,
      tokenExpiresAt: firstExpiry(details, at),
      ...sealCredentials(deps.vault, { environmentId, id: account.id, credentialGeneration, ...bound }, details),
    }),
    ...(replaced && usable && { status: 'ACTIVE' as const, statusReason: null }),
    ...(parks && { status: 'PENDING_AUTH' as const, statusReason: reason }),
    // An account that has no encrypted credentials after this update takes over the provider's current binding.
    ...(!replaced && !holdsSecrets && (outdated || account.temporarySealed === null) && bound),
    // Obtained tokens are removed, because they belong to the previous configuration.
    ...(outdated &&
      !replaced &&
      account.temporarySealed !== null && {
        ...(holdsSecrets ? { temporarySealed: null } : NO_CREDENTIALS),
        publicDetails: publicPart(details, fields),
        tokenExpiresAt: null,
      }),
  });
  if (replaced && usable) await completeConnection(tx, environmentId, connection, at);
  // Open links are ended, because the account has been changed since they were created (threat C17).
  if (replaced) await tx.authRequests.close(environmentId, account.id, at);
  const updated = (await tx.accounts.get(environmentId, account.id)) as AccountRow;
  if (parks) await emitParked(tx, deps.events, updated, reason, cause);
  await deps.events.emit(tx, cause, {
    type: 'connected_account.updated',
    subject: account.id,
    data: async (show) => ({ connected_account: await show.account(updated) }),
  });
  if (replaced) {
    await deps.events.emit(tx, cause, {
      type: 'connected_account.credentials_replaced',
      subject: account.id,
      // The generations show which credential was in use at which time.
      auditOnly: { from_generation: account.credentialGeneration, to_generation: updated.credentialGeneration },
      data: async (show) => ({ connected_account: await show.account(updated) }),
    });
  }
  return { account: updated, replaced };
}

/** Whether the account settings that tokens are obtained with have changed. */
function settingsDiffer({ account_fields: fields = [] }: AuthPattern, before: JsonObject, after: JsonObject): boolean {
  return fields.some(({ field_name: name }) => before[name] !== after[name]);
}

const NOT_USABLE = 'Required credential fields of the account were removed. Set them again.';

/**
 * Returns the stored credentials that a change is merged into, without tokens that Valetkey obtained.
 *
 * @param replaced whether the change contains credentials; then stored credentials that cannot be decrypted are
 * discarded instead of causing an error
 */
function storedDetails(deps: AccountDeps, account: AccountRow, replaced: boolean): Details {
  try {
    return openGivenCredentials(deps.vault, account, account);
  } catch (error) {
    if (error instanceof VaultError && error.code === 'UNSEALABLE' && replaced) return {};
    throw error;
  }
}
