import type { ConnectionRow } from '../../db/store.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Secret } from '../secret.ts';
import { readSmartClientKey } from '../smart-fhir/client-key.ts';
import { VaultError } from '../vault/errors.ts';
import type { Vault } from '../vault/vault.ts';
import { clientSecretPlace } from './client-secret-place.ts';

/**
 * The client that a connection is at its provider.
 *
 * @throws OAuthConfigError when it has no id, or its secret cannot be opened
 */
export function clientOf(
  vault: Vault,
  connection: ConnectionRow,
  pattern: Pick<AuthPattern, 'type' | 'oauth_config' | 'is_mcp'>,
): ClientCredentials {
  const { clientId } = connection;
  if (clientId === null || clientId === '') throw new OAuthConfigError('The connection has no client id.');
  const secret = clientSecretOf(vault, connection);
  // A client that registered itself with an MCP provider may have been given no secret.
  const usual = pattern.is_mcp && secret === null ? 'none' : 'client_secret_basic';
  return clientFor(pattern, { clientId, method: pattern.oauth_config?.client_auth_method ?? usual, secret });
}

/** Record systems have rules of their own for the keys of clients. @throws OAuthConfigError for a key that does not fit them */
export function clientFor({ type }: Pick<AuthPattern, 'type'>, client: ClientCredentials): ClientCredentials {
  if (type !== 'SMART_FHIR' || client.method !== 'private_key_jwt' || client.secret === null) return client;
  return { ...client, secret: readSmartClientKey(client.secret).secret };
}

/**
 * The client secret of a connection; null when it has none.
 *
 * @throws OAuthConfigError when it cannot be opened
 */
export function clientSecretOf(vault: Vault, { environmentId, id, clientSecretSealed }: ConnectionRow): Secret | null {
  if (clientSecretSealed === null) return null;
  try {
    return vault.openValue(clientSecretPlace(environmentId, id), clientSecretSealed);
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause;
    throw new OAuthConfigError('The client secret of the connection cannot be opened.', { cause });
  }
}
