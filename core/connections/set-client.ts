import type { Definition } from '../accounts/binding.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import type { FieldError } from '../errors.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { Secret } from '../secret.ts';
import type { Vault } from '../vault/vault.ts';
import { isWithin } from './allowed-addresses.ts';
import { type BoundConnection, clientSecretOf } from './client.ts';
import { bindClient } from './client-binding.ts';
import { type ClientColumns, NO_CLIENT_SECRET, resealClient, sealClient } from './client-secret.ts';

/** The client fields of a request for a connection; `null` clears a field. */
export interface ClientInput {
  client_id?: string | null | undefined;
  client_secret?: string | null | undefined;
  allowed_addresses?: string[] | null | undefined;
}

/** The client columns of a new connection. */
export const NO_CLIENT = {
  clientId: null,
  ...NO_CLIENT_SECRET,
  clientGeneration: 0,
  clientBinding: null,
  allowedAddresses: null,
};

/**
 * Returns the client columns that a request changes. If the request sets the secret, or the id of a client without a
 * secret, the client may from then on be used only as the provider's current definition describes: this is its binding.
 * Otherwise the binding stays, and only its `allowed_addresses` are updated.
 *
 * @param definition undefined if the provider was deleted; then a request that sets the client removes the stored
 * secret
 */
export function clientColumns(
  vault: Vault,
  stored: BoundConnection,
  definition: Definition | undefined,
  input: ClientInput,
): Partial<ClientColumns> {
  const { allowed_addresses: allowed = stored.allowedAddresses, client_secret: secret } = input;
  if (!setsClient(stored, input)) return withAddresses(vault, stored, definition, allowed);
  if (!definition) return { ...NO_CLIENT_SECRET, clientBinding: null };
  const terms = bindClient(definition.provider, definition.pattern, allowed);
  return sealClient(vault, stored, secret ? new Secret(secret) : null, terms);
}

/**
 * Returns an error for a change that would allow a stored client at more addresses than it was set up for, unless the
 * request also sets the client again.
 */
export function checkAddresses(
  stored: BoundConnection,
  definition: Definition | undefined,
  input: ClientInput,
): FieldError[] {
  const { allowed_addresses: allowed } = input;
  const { clientBinding, clientSecretSealed, allowedAddresses } = stored;
  if (allowed === undefined || clientBinding === null || !definition || setsClient(stored, input)) return [];
  const { pattern } = definition;
  // More addresses do no harm in two cases: an identity token names its account, and an assertion for one record system
  // cannot be used at another record system.
  const isHarmless = isRecordSystem(pattern) && pattern.oauth_config?.client_auth_method === 'private_key_jwt';
  const isStatement = moduleOf(pattern.type).client?.kind === 'identity_token';
  if (isStatement || isHarmless || isWithin(allowed, allowedAddresses)) return [];
  const message = 'must be sent again, because allowed_addresses allows more than before';
  return [{ field: clientSecretSealed === null ? 'client_id' : 'client_secret', message }];
}

function setsClient(
  { clientSecretSealed }: BoundConnection,
  { client_id: id, client_secret: secret }: ClientInput,
): boolean {
  return secret !== undefined || (id !== undefined && clientSecretSealed === null);
}

/** Returns the columns of the same client with other allowed addresses, which `checkAddresses` has accepted. */
function withAddresses(
  vault: Vault,
  stored: BoundConnection,
  definition: Definition | undefined,
  allowed: string[] | null,
): Partial<ClientColumns> {
  const { clientBinding: bound } = stored;
  if (bound === null || !definition || JSON.stringify(bound.allowed) === JSON.stringify(allowed)) return {};
  try {
    const secret = clientSecretOf(vault, { connection: stored, ...definition });
    return resealClient(vault, stored, secret, { ...bound, allowed });
  } catch (error) {
    // The client cannot be used with the current definition. It stays unchanged, and unusable.
    if (error instanceof OAuthConfigError) return {};
    throw error;
  }
}
