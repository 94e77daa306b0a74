import type { ConnectionRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isClientPattern, isGranted } from '../authorization/roles.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { isClientOpen } from './allowed-addresses.ts';

/**
 * `DRAFT` while a setting is missing. Then, for types whose users consent at the provider, `IN_PROGRESS` until the
 * first account is active. `COMPLETED` otherwise.
 */
export type ConnectionStatus = 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED';

/** The settings of a connection that determine its status. */
export interface ConnectionSettings {
  clientId: string | null;
  hasClientSecret: boolean;
  /** The connection has no client binding: no client was set, or a change of the provider has removed it. */
  isWithdrawn?: boolean;
  /** The connection must list the addresses that accounts may use, and does not. */
  lacksAddresses?: boolean;
}

/**
 * Returns the settings of a connection that determine its status.
 *
 * @param isProduction whether its environment is a production environment: there, a connection must list the addresses
 * of its client if accounts would choose them
 */
export function settingsOf(
  { clientId, clientSecretSealed, clientBinding, allowedAddresses }: SettingColumns,
  { provider, pattern }: { provider: ProviderDefinition; pattern: AuthPattern },
  isProduction: boolean,
): ConnectionSettings {
  return {
    clientId,
    hasClientSecret: clientSecretSealed !== null,
    isWithdrawn: clientBinding === null,
    lacksAddresses: isProduction && allowedAddresses === null && isClientOpen(provider, pattern),
  };
}

type SettingColumns = Pick<ConnectionRow, 'clientId' | 'clientSecretSealed' | 'clientBinding' | 'allowedAddresses'>;

/**
 * Returns the names of the settings that a connection still lacks, as in the contract. Nothing is missing for types
 * whose accounts supply everything, including machine clients that users enter per account, and for MCP servers, at
 * which Valetkey registers its client itself.
 */
export function missingSettings(pattern: AuthPattern, settings: ConnectionSettings): string[] {
  const { client } = moduleOf(pattern.type);
  // Identity tokens need only a client binding, which is stored when the connection is created. If a change of the
  // provider has removed the binding, setting client_id stores a new one.
  if (client?.kind === 'identity_token') return settings.isWithdrawn ? ['client_id'] : [];
  const accountsBringClient = isClientPattern(pattern) && (pattern.fields?.length ?? 0) > 0;
  // Valetkey registers the client at an MCP server itself.
  if (!client || accountsBringClient || pattern.is_mcp) return [];
  const missing: string[] = [];
  if (!settings.clientId) missing.push('client_id');
  const config = pattern.oauth_config ?? {};
  const isPublicClient = config.client_auth_method === 'none' || client.isPublic?.(config) === true;
  if (!settings.hasClientSecret && !isPublicClient) missing.push('client_secret');
  if (settings.lacksAddresses) missing.push('allowed_addresses');
  return missing;
}

/** @param hasActiveAccount whether the connection has, or had, an active account */
export function connectionStatus(
  pattern: AuthPattern,
  settings: ConnectionSettings,
  hasActiveAccount: boolean,
): ConnectionStatus {
  if (missingSettings(pattern, settings).length > 0) return 'DRAFT';
  return isGranted(pattern) && !hasActiveAccount ? 'IN_PROGRESS' : 'COMPLETED';
}

/** Returns the status that follows from the columns of a connection. */
export function statusOf(
  connection: SettingColumns,
  definition: { provider: ProviderDefinition; pattern: AuthPattern },
  isProduction: boolean,
  hasActiveAccount: boolean,
): ConnectionStatus {
  return connectionStatus(definition.pattern, settingsOf(connection, definition, isProduction), hasActiveAccount);
}
