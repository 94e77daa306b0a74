import type { ConnectionRow } from '../../db/store.ts';
import { type AuthorizationType, type AuthPattern, isBackendPattern } from '../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { isClientOpen } from './allowed-addresses.ts';

/** `DRAFT` while a setting is missing, `IN_PROGRESS` until a first account has finished its flow, then `COMPLETED`. */
export type ConnectionStatus = 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED';

/** What the environment brings to a connection, as far as it decides the status. */
export interface ConnectionSettings {
  clientId: string | null;
  hasClientSecret: boolean;
  /** The terms of its client were withdrawn, and nobody has set it up again. */
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

/** Types whose accounts come out of a flow at the provider, with a registered client. */
const FLOW_TYPES: ReadonlySet<AuthorizationType> = new Set(['OAUTH', 'SMART_FHIR', 'BOARD_OAUTH1']);

/** Types that sign in with credentials of the environment, without a person. */
const SERVICE_TYPES: ReadonlySet<AuthorizationType> = new Set(['OAUTH_M2M', 'WORKSPACE_DWD']);

/**
 * The settings that a connection still lacks, by their names in the contract. Types whose accounts bring everything along lack
 * nothing; so do machine clients whose credentials are typed per account.
 */
export function missingSettings(pattern: AuthPattern, settings: ConnectionSettings): string[] {
  // What stands for its client is our word, which was bound when the connection was made.
  if (pattern.type === 'TRUSTED_IDP') return settings.isWithdrawn ? ['client_id'] : [];
  const needsClient = FLOW_TYPES.has(pattern.type) || SERVICE_TYPES.has(pattern.type);
  const isClient = pattern.type === 'OAUTH_M2M' || isBackendPattern(pattern);
  const accountsBringClient = isClient && (pattern.fields?.length ?? 0) > 0;
  // An MCP provider registers its client by itself.
  if (!needsClient || accountsBringClient || pattern.is_mcp) return [];
  const missing: string[] = [];
  if (!settings.clientId) missing.push('client_id');
  const {
    client_auth_method: method,
    return_parameter: byFragment,
    request_token_uri: signed,
  } = pattern.oauth_config ?? {};
  const isPublicClient = method === 'none' || (byFragment !== undefined && signed === undefined);
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
  const isFlow = FLOW_TYPES.has(pattern.type) && !isBackendPattern(pattern);
  return isFlow && !hasActiveAccount ? 'IN_PROGRESS' : 'COMPLETED';
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
