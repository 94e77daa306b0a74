import type { AccountRow, ConnectionRow, EnvironmentId, Transaction } from '../../db/store.ts';
import { UniqueError } from '../../db/store.ts';
import { isClientPattern } from '../authorization/roles.ts';
import { checkAllowedBase } from '../connections/allowed-addresses.ts';
import { findProvider, requirePattern } from '../connections/providers.ts';
import type { ConnectionDeps } from '../connections/resolve.ts';
import { ensureConnection } from '../connections/resolve.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { checkAccountInputs } from '../connectors/base-url.ts';
import { checkAccountFields } from '../connectors/static-details.ts';
import { ApiError } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import { VaultError } from '../vault/errors.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './authorization-details.ts';
import { bindTo, type Definition, type FieldSecrecy, fieldSecrecy } from './binding.ts';
import { NO_CREDENTIALS, openGivenCredentials, sealCredentials } from './credentials.ts';
import { areUsable, checkDetails, formOf, mergeDetails, publicPart, staticFieldsIn } from './details.ts';
import type { JsonObject } from './merge.ts';
import { mergeConfig } from './merge.ts';
import { mergeCredential } from './merge-credential.ts';
import { emitParked } from './park.ts';
import { orderAccountRevocation, type RevocationDeps } from './revocation-order.ts';
import type { AccountKey } from './selector.ts';

/** The fields of a request that creates or updates an account; both are optional. */
export interface AccountInput {
  api_config?: JsonObject | undefined;
  authorization_details?: Details | undefined;
}

export interface AccountDeps extends ConnectionDeps {
  vault: Vault;
  newId(prefix: 'conn' | 'ca'): string;
}

export interface CreateDeps extends AccountDeps {
  events: Events;
}

const CONFIG_FIELD = 'connected_account.api_config';

export interface CreatedAccount {
  account: AccountRow;
  /** The credentials in plaintext and encrypted, so that the response does not need to decrypt them. */
  details: Details;
}

/**
 * Creates an account, and its connection if there is none. With complete credentials the account is ACTIVE immediately, otherwise
 * it waits for them.
 *
 * @throws ApiError UNKNOWN_CONNECTOR, AMBIGUOUS_CONNECTOR, INVALID_API_CONFIG, INVALID_AUTHORIZATION_DETAILS, ACCOUNT_EXISTS
 */
export async function createAccount(
  tx: Transaction,
  deps: CreateDeps,
  environmentId: EnvironmentId,
  key: AccountKey,
  input: AccountInput,
  cause: Cause,
): Promise<CreatedAccount> {
  const details = input.authorization_details ?? {};
  const connection = await ensureConnection(tx, deps, environmentId, key.connector, details, cause);
  const definition = await definitionOf(tx, deps, environmentId, connection);
  const { pattern } = definition;
  const apiConfig = mergeConfig({}, input.api_config ?? {}, CONFIG_FIELD);
  const fields = fieldSecrecy(pattern, details);
  checkAccount(definition, connection, apiConfig, details, details, fields);
  const id = deps.newId('ca');
  const at = deps.now();
  const bound = bindTo(definition, apiConfig, details, fields);
  const usable = areUsable(pattern, details, apiConfig);
  const place = { environmentId, id, credentialGeneration: 1, ...bound };
  try {
    await tx.accounts.insert(environmentId, {
      id,
      connectionId: connection.id,
      connector: connection.keyId,
      provider: connection.providerKey,
      identifier: key.identifier,
      organizationId: key.organizationId ?? '',
      userId: key.userId ?? '',
      authorizationType: pattern.type,
      status: usable ? 'ACTIVE' : 'PENDING_AUTH',
      apiConfig,
      publicDetails: publicPart(details, fields),
      tokenExpiresAt: firstExpiry(details, at),
      ...bound,
      credentialGeneration: 1,
      ...sealCredentials(deps.vault, place, details),
      createdAt: at,
      updatedAt: at,
    });
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    throw new ApiError('ACCOUNT_EXISTS', 'The connection already has an account with this owner and identifier.', {
      cause: error,
    });
  }
  if (usable) await completeConnection(tx, environmentId, connection, at);
  const account = (await tx.accounts.get(environmentId, id)) as AccountRow;
  await deps.events.emit(tx, cause, {
    type: 'connected_account.created',
    subject: id,
    auditOnly: { status: account.status },
    data: async (show) => ({ connected_account: await show.account(account) }),
  });
  return { account, details };
}

export interface AccountUpdate {
  account: AccountRow;
  /** Whether the credentials were replaced. */
  replaced: boolean;
}

/**
 * Updates an account: `api_config` is merged, and only the given fields of the credentials change. With usable
 * credentials the account becomes ACTIVE. A change takes the account out of use if it leaves no usable credentials, or
 * if the stored credentials must not be used for the new configuration. Tokens that Valetkey obtained with replaced
 * values are removed and revoked.
 *
 * @throws ApiError INVALID_API_CONFIG, INVALID_AUTHORIZATION_DETAILS
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
  // A client without its own details is stored as an empty object.
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
    // An account without encrypted credentials takes over the provider's current binding.
    ...(!replaced && !holdsSecrets && (outdated || account.temporarySealed === null) && bound),
    // Obtained tokens belong to the previous configuration.
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

export type UpdateDeps = CreateDeps & RevocationDeps;

/** Whether the account settings that tokens are obtained with have changed. */
function settingsDiffer({ account_fields: fields = [] }: AuthPattern, before: JsonObject, after: JsonObject): boolean {
  return fields.some(({ field_name: name }) => before[name] !== after[name]);
}

const NOT_USABLE = 'The account is no longer complete: required credential fields were removed.';

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

async function definitionOf(
  tx: Transaction,
  deps: AccountDeps,
  environmentId: EnvironmentId,
  connection: ConnectionRow,
): Promise<Definition> {
  const provider = await findProvider(tx, deps.catalogue, environmentId, connection.providerKey);
  if (!provider) {
    throw new ApiError('UNKNOWN_CONNECTOR', `The provider of the connection ${connection.keyId} has been deleted.`, {
      errors: [{ field: 'connector', message: 'names a connection whose provider has been deleted' }],
    });
  }
  return { provider, pattern: requirePattern(provider, connection.type, 'connector') };
}

function checkAccount(
  { provider, pattern }: Definition,
  connection: ConnectionRow,
  apiConfig: JsonObject,
  details: Details,
  change: Details,
  fields: FieldSecrecy,
): void {
  checkDetails(pattern, details, change, apiConfig);
  const inputs = accountInputs(pattern, apiConfig, staticFieldsIn(publicPart(details, fields)));
  const errors = [...checkAccountFields(pattern, apiConfig), ...checkAccountInputs(provider, inputs)];
  if (errors.length === 0) errors.push(...checkAllowedBase(connection, provider, inputs));
  if (errors.length > 0)
    throw new ApiError('INVALID_API_CONFIG', 'The API configuration does not match the provider.', { errors });
}

/**
 * The lifetime of a supplied token is unknown. An account with only a refresh token counts as expired, so that the
 * token is refreshed before the first call.
 */
function firstExpiry({ oauth_token: token }: Details, at: number): number | null {
  return token?.['refresh_token'] && !token['access_token'] ? at : null;
}

/** Marks a connection as completed when it has its first active account; a draft stays a draft. */
export async function completeConnection(
  tx: Transaction,
  environmentId: EnvironmentId,
  connection: ConnectionRow,
  at: number,
): Promise<void> {
  if (connection.status === 'IN_PROGRESS')
    await tx.connections.setStatus(environmentId, connection.id, 'COMPLETED', at);
}
