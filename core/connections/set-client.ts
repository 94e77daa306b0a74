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
import { type ClientColumns, resealClient, sealClient } from './client-secret.ts';

/** What a request says about the client of a connection; `null` clears. */
export interface ClientInput {
  client_id?: string | null | undefined;
  client_secret?: string | null | undefined;
  allowed_addresses?: string[] | null | undefined;
}

/** A connection before anything is set. */
export const NO_CLIENT = {
  clientId: null,
  clientSecretSealed: null,
  clientGeneration: 0,
  clientBinding: null,
  allowedAddresses: null,
};

/**
 * The client as a request sets it. A request that sets a secret, or the id of a client that has none, accepts the provider as it is
 * now. A secret that stays keeps the terms that it was given under.
 *
 * @param definition undefined when the provider was deleted
 */
export function clientColumns(
  vault: Vault,
  stored: BoundConnection,
  definition: Definition | undefined,
  input: ClientInput,
): Partial<ClientColumns> {
  const { allowed_addresses: allowed = stored.allowedAddresses, client_secret: secret } = input;
  if (!setsClient(stored, input)) return withAddresses(vault, stored, definition, allowed);
  if (!definition) return { clientSecretSealed: null, clientBinding: null };
  const terms = bindClient(definition.provider, definition.pattern, allowed);
  return sealClient(vault, stored, secret ? new Secret(secret) : null, terms);
}

/** Refuses to let a stored client be used at more addresses than it was set up for, unless it is set again in the same request. */
export function checkAddresses(
  stored: BoundConnection,
  definition: Definition | undefined,
  input: ClientInput,
): FieldError[] {
  const { allowed_addresses: allowed } = input;
  const { clientBinding, clientSecretSealed, allowedAddresses } = stored;
  if (allowed === undefined || clientBinding === null || !definition || setsClient(stored, input)) return [];
  const { pattern } = definition;
  // A signed statement names its account, and an assertion for one record system is of no use at another.
  const isHarmless = isRecordSystem(pattern) && pattern.oauth_config?.client_auth_method === 'private_key_jwt';
  const isStatement = moduleOf(pattern.type).client?.kind === 'identity_token';
  if (isStatement || isHarmless || isWithin(allowed, allowedAddresses)) return [];
  const message = 'must be set again when a request allows more addresses than before';
  return [{ field: clientSecretSealed === null ? 'client_id' : 'client_secret', message }];
}

function setsClient(
  { clientSecretSealed }: BoundConnection,
  { client_id: id, client_secret: secret }: ClientInput,
): boolean {
  return secret !== undefined || (id !== undefined && clientSecretSealed === null);
}

/** The same client, whose addresses are fewer now, or harmless. */
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
    // It cannot be used as it is, and stays so.
    if (error instanceof OAuthConfigError) return {};
    throw error;
  }
}
