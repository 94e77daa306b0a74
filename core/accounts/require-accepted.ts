import type { AccountRow, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import { findPattern, findProvider } from '../connections/providers.ts';
import { choosePattern, resolveConnector } from '../connections/resolve.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import type { CheckCredentials, GivenCredentials } from '../executions/credential-check.ts';
import { VaultError } from '../vault/errors.ts';
import type { Vault } from '../vault/vault.ts';
import type { AccountInput } from './account-input.ts';
import { openGivenCredentials } from './credentials.ts';
import { mergeDetails } from './details.ts';
import { mergeConfig } from './merge.ts';

export interface AcceptedDeps {
  catalogue: Catalogue;
  vault: Vault;
  checkCredentials: CheckCredentials;
}

const CONFIG_FIELD = 'connected_account.api_config';

/**
 * Checks with the provider whether it accepts the credentials of a request that creates an account. A request whose
 * provider is unknown or cannot be asked passes; its errors are reported when the account is created.
 *
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS if the provider does not accept them; AMBIGUOUS_CONNECTOR;
 * INVALID_API_CONFIG
 */
export async function requireAcceptedForNew(
  read: ReadRepositories,
  deps: AcceptedDeps,
  environment: EnvironmentRow,
  connector: string,
  input: AccountInput,
): Promise<void> {
  const details = input.authorization_details ?? {};
  const connection = await resolveConnector(read, environment.id, connector);
  const provider = await findProvider(read, deps.catalogue, environment.id, connection?.providerKey ?? connector);
  const pattern = provider && (connection ? findPattern(provider, connection.type) : choosePattern(provider, details));
  if (!provider || !pattern) return;
  const apiConfig = mergeConfig({}, input.api_config ?? {}, CONFIG_FIELD);
  const client = connection ?? { clientId: null };
  await requireAccepted(deps, environment, { provider, pattern, connection: client, apiConfig, details });
}

/**
 * Checks with the provider whether it accepts the credentials that an account would have after a change. A request that
 * cannot be checked passes.
 *
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS if the provider does not accept them; INVALID_API_CONFIG
 */
export async function requireAcceptedForChange(
  read: ReadRepositories,
  deps: AcceptedDeps,
  environment: EnvironmentRow,
  account: AccountRow,
  input: AccountInput,
): Promise<void> {
  const connection = await read.connections.get(environment.id, account.connectionId);
  const provider = await findProvider(read, deps.catalogue, environment.id, account.provider);
  const pattern = provider && findPattern(provider, account.authorizationType);
  if (!connection || !provider || !pattern) return;
  const details = mergeDetails(storedDetails(deps, account), input.authorization_details ?? {});
  const apiConfig = mergeConfig(account.apiConfig, input.api_config ?? {}, CONFIG_FIELD);
  await requireAccepted(deps, environment, { provider, pattern, connection, apiConfig, details });
}

async function requireAccepted(deps: AcceptedDeps, environment: EnvironmentRow, given: GivenCredentials) {
  const verdict = await deps.checkCredentials(environment, given);
  if (verdict.verdict !== 'rejected') return;
  const errors = [{ field: 'connected_account.authorization_details', message: verdict.reason }];
  throw new ApiError('INVALID_AUTHORIZATION_DETAILS', verdict.reason, { errors });
}

function storedDetails({ vault }: AcceptedDeps, account: AccountRow) {
  try {
    return openGivenCredentials(vault, account, account);
  } catch (error) {
    if (error instanceof VaultError) return {};
    throw error;
  }
}
