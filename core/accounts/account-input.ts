import type { ConnectionRow, EnvironmentId, Transaction } from '../../db/store.ts';
import { checkAllowedBase } from '../connections/allowed-addresses.ts';
import { findProvider, requirePattern } from '../connections/providers.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import { checkAccountInputs } from '../connectors/base-url.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { checkAccountFields } from '../connectors/static-details.ts';
import { ApiError } from '../errors.ts';
import type { Details } from './authorization-details.ts';
import type { Definition, FieldSecrecy } from './binding.ts';
import { checkDetails, publicPart, staticFieldsIn } from './details.ts';
import type { JsonObject } from './merge.ts';

/** The fields of a request that creates or updates an account; both are optional. */
export interface AccountInput {
  api_config?: JsonObject | undefined;
  authorization_details?: Details | undefined;
}

/** The name of `api_config` in errors. */
export const CONFIG_FIELD = 'connected_account.api_config';

/**
 * Returns the provider of a connection, and the provider's authorization pattern that the accounts of the connection
 * use.
 *
 * @throws ApiError UNKNOWN_CONNECTOR if the provider was deleted; UNSUPPORTED_CONNECTION_TYPE if the provider no longer
 * has the pattern
 */
export async function definitionOf(
  tx: Transaction,
  deps: { catalogue: Catalogue },
  environmentId: EnvironmentId,
  connection: ConnectionRow,
): Promise<Definition> {
  const provider = await findProvider(tx, deps.catalogue, environmentId, connection.providerKey);
  if (!provider) {
    throw new ApiError('UNKNOWN_CONNECTOR', `The provider of the connection ${connection.keyId} has been deleted.`, {
      errors: [{ field: 'connector', message: 'names a connection whose provider has been deleted; use another one' }],
    });
  }
  return { provider, pattern: requirePattern(provider, connection.type, 'connector') };
}

/**
 * Checks the configuration and the credentials of an account as they will be stored.
 *
 * @param details the credentials after the change
 * @param change the credentials that the request contains
 * @throws ApiError INVALID_API_CONFIG, INVALID_AUTHORIZATION_DETAILS
 */
export function checkAccount(
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
 * Returns when the token of supplied credentials expires, in milliseconds UTC. The lifetime of a supplied access token
 * is unknown, so the result is null. Credentials with only a refresh token count as expired, so that an access token is
 * obtained before the first call.
 */
export function firstExpiry({ oauth_token: token }: Details, at: number): number | null {
  return token?.['refresh_token'] && !token['access_token'] ? at : null;
}
