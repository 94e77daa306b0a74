import type { ConnectionRow } from '../../db/store.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Secret } from '../secret.ts';
import { readSmartClientKey } from '../smart-fhir/client-key.ts';
import { VaultError } from '../vault/errors.ts';
import type { Vault } from '../vault/vault.ts';
import { type ClientPattern, type ClientProvider, isClientCovered } from './client-binding.ts';
import { type ClientColumns, openClientSecret } from './client-secret.ts';

/** The columns of a connection that its client is built from. */
export type BoundConnection = Pick<ConnectionRow, 'environmentId' | 'id' | 'clientId' | 'allowedAddresses'> &
  ClientColumns;

/** The client of a connection, and the definition that it is to be used with. */
export interface ClientPurpose {
  connection: BoundConnection;
  /** undefined if the provider was deleted. */
  provider: ClientProvider | undefined;
  pattern: ClientPattern;
}

/**
 * Returns the OAuth client of a connection.
 *
 * @throws OAuthConfigError if the client has no id, its secret cannot be decrypted, its private key is invalid, or it
 * was set up for another use
 */
export function clientOf(vault: Vault, purpose: ClientPurpose): ClientCredentials {
  const { connection, pattern } = purpose;
  const { clientId } = connection;
  if (clientId === null || clientId === '') throw new OAuthConfigError('The connection has no client_id.');
  const secret = clientSecretOf(vault, purpose);
  // A client that was registered automatically with an MCP server may have no secret.
  const usual = pattern.is_mcp && secret === null ? 'none' : 'client_secret_basic';
  return clientFor(pattern, { clientId, method: pattern.oauth_config?.client_auth_method ?? usual, secret });
}

/**
 * Returns the client as it is used with a pattern. For a health record system, the private key of the client is checked
 * and converted, because SMART has its own rules for keys. Any other client is returned unchanged.
 *
 * @throws OAuthConfigError for an invalid key
 */
export function clientFor(
  pattern: Pick<ClientPattern, 'type' | 'oauth_config'>,
  client: ClientCredentials,
): ClientCredentials {
  if (!isRecordSystem(pattern) || client.method !== 'private_key_jwt' || client.secret === null) return client;
  return { ...client, secret: readSmartClientKey(client.secret).secret };
}

/**
 * Returns the client secret of a connection; null if it has none.
 *
 * @throws OAuthConfigError if the secret cannot be decrypted, or the client was set up for another use
 */
export function clientSecretOf(vault: Vault, purpose: ClientPurpose): Secret | null {
  requireTerms(purpose);
  const { connection } = purpose;
  try {
    return openClientSecret(vault, connection);
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause;
    throw new OAuthConfigError('The client secret of the connection cannot be decrypted. Set it again.', { cause });
  }
}

/**
 * Checks that a client is used only for what it was set up for. A change of the provider removes the clients that it
 * affects; this check covers any client that was not removed.
 *
 * @throws OAuthConfigError
 */
export function requireTerms({ connection, provider, pattern }: ClientPurpose): void {
  const { clientBinding: bound, allowedAddresses: allowed } = connection;
  const isListed = JSON.stringify(bound?.allowed) === JSON.stringify(allowed);
  if (bound !== null && isListed && isClientCovered(bound, provider, pattern)) return;
  throw new OAuthConfigError(
    'The client of the connection is not set for its endpoints, allowed_addresses and authentication method. ' +
      'Set client_id and client_secret again.',
  );
}
