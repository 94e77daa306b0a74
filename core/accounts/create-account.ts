import { type AccountRow, type EnvironmentId, type Transaction, UniqueError } from '../../db/store.ts';
import { completeConnection } from '../connections/complete.ts';
import { type ConnectionDeps, ensureConnection } from '../connections/resolve.ts';
import { ApiError } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import type { Vault } from '../vault/vault.ts';
import { type AccountInput, CONFIG_FIELD, checkAccount, definitionOf, firstExpiry } from './account-input.ts';
import type { Details } from './authorization-details.ts';
import { bindTo, fieldSecrecy } from './binding.ts';
import { sealCredentials } from './credentials.ts';
import { areUsable, publicPart } from './details.ts';
import { mergeConfig } from './merge.ts';
import type { AccountKey } from './selector.ts';

export interface AccountDeps extends ConnectionDeps {
  vault: Vault;
  newId(prefix: 'conn' | 'ca'): string;
}

export interface CreateDeps extends AccountDeps {
  events: Events;
}

export interface CreatedAccount {
  account: AccountRow;
  /** The credentials in plaintext, so that the response does not need to decrypt those in `account`. */
  details: Details;
}

/**
 * Creates an account, and its connection if there is none. With complete credentials the account is ACTIVE immediately.
 * Otherwise it is PENDING_AUTH until it has them.
 *
 * @throws ApiError UNKNOWN_CONNECTOR, AMBIGUOUS_CONNECTOR, UNSUPPORTED_CONNECTION_TYPE, INVALID_API_CONFIG,
 * INVALID_AUTHORIZATION_DETAILS, ACCOUNT_EXISTS; VALIDATION_FAILED if the environment cannot have another connection
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
  let account: AccountRow;
  try {
    account = await tx.accounts.insert(environmentId, {
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
    const detail = 'The connection already has an account with this owner and identifier. Update that account instead.';
    throw new ApiError('ACCOUNT_EXISTS', detail, { cause: error });
  }
  if (usable) await completeConnection(tx, environmentId, connection, at);
  await deps.events.emit(tx, cause, {
    type: 'connected_account.created',
    subject: id,
    auditOnly: { status: account.status },
    data: async (show) => ({ connected_account: await show.account(account) }),
  });
  return { account, details };
}
