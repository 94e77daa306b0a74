import type { ConnectionRow } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isClientPattern, isGranted } from '../authorization/roles.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { isClientOpen } from './allowed-addresses.ts';

/** `DRAFT` while a setting is missing, `IN_PROGRESS` until a first account has finished its flow, then `COMPLETED`. */
export type ConnectionStatus = 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED';

/** What the environment brings to a connection, as far as it decides the status. */
export interface ConnectionSettings {
  clientId: string | null;
  hasClientSecret: boolean;
  /** The connection's client was withdrawn and not set again. */
  isWithdrawn?: boolean;
  /** It must say which addresses accounts may bring, and does not. */
  lacksAddresses?: boolean;
}

/**
 * The settings of a connection.
 *
 * @param isProduction of its environment: there a connection has to say where its client may be used, where that is left to accounts
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
 * The settings that a connection still lacks, by their names in the contract. Types whose accounts bring everything along lack
 * nothing; so do machine clients whose credentials are typed per account.
 */
export function missingSettings(pattern: AuthPattern, settings: ConnectionSettings): string[] {
  const { client } = moduleOf(pattern.type);
  // The terms of a client that signs statements were stored when the connection was made.
  if (client?.kind === 'identity_token') return settings.isWithdrawn ? ['client_id'] : [];
  const accountsBringClient = isClientPattern(pattern) && (pattern.fields?.length ?? 0) > 0;
  // An MCP provider registers its client by itself.
  if (!client || accountsBringClient || pattern.is_mcp) return [];
  const missing: string[] = [];
  if (!settings.clientId) missing.push('client_id');
  const config = pattern.oauth_config ?? {};
  const isPublicClient = config.client_auth_method === 'none' || client.isPublic?.(config) === true;
  if (!settings.hasClientSecret && !isPublicClient) missing.push('client_secret');
  if (settings.lacksAddresses) missing.push('allowed_addresses');
  return missing;
}

/**
 * @param hasActiveAccount whether an account of the connection has been active
 */
export function connectionStatus(
  pattern: AuthPattern,
  settings: ConnectionSettings,
  hasActiveAccount: boolean,
): ConnectionStatus {
  if (missingSettings(pattern, settings).length > 0) return 'DRAFT';
  return isGranted(pattern) && !hasActiveAccount ? 'IN_PROGRESS' : 'COMPLETED';
}

/** The status that the columns of a connection stand for. */
export function statusOf(
  connection: SettingColumns,
  definition: { provider: ProviderDefinition; pattern: AuthPattern },
  isProduction: boolean,
  hasActiveAccount: boolean,
): ConnectionStatus {
  return connectionStatus(definition.pattern, settingsOf(connection, definition, isProduction), hasActiveAccount);
}
