import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import type { Definition } from '../accounts/binding.ts';
import { moduleOf } from '../authorization/registry.ts';
import { MCP_UPSTREAM } from '../budgets.ts';
import { registeredCallbackUrl } from '../connections/callback-url.ts';
import { missingSettings, settingsOf } from '../connections/status.ts';
import { identityProviderOf } from '../connections/vendor.ts';
import { mcpServerUrl } from '../mcp/server-definition.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY } from './optional.ts';
import type { Schemas } from './schemas.ts';

/** @param vendor of the built-in connector; undefined for a custom provider */
export function presentConnection(
  row: ConnectionRow,
  vendor: string | undefined,
  environment: Pick<EnvironmentRow, 'baseUrl'>,
): Schemas['Connection'] {
  return {
    id: row.id,
    key_id: row.keyId,
    organization_id: row.organizationId,
    organization_name: row.organizationName,
    domains: row.domains,
    enabled: row.enabled,
    mcp_server_url: mcpServerUrl(environment, row.id),
    callback_url: registeredCallbackUrl(environment, row),
    provider: identityProviderOf(vendor),
    provider_key: row.providerKey,
    status: row.status,
    type: moduleOf(row.type).connectionType,
  };
}

/** @param definition the provider and its pattern for the connection's type; undefined if the provider was deleted */
export function presentConfiguration(
  row: ConnectionRow,
  vendor: string | undefined,
  definition: Definition | undefined,
  environment: Pick<EnvironmentRow, 'baseUrl' | 'kind'>,
): Schemas['ConnectionConfiguration'] {
  const settings = definition && settingsOf(row, definition, environment.kind === 'PRODUCTION');
  return {
    ...presentConnection(row, vendor, environment),
    authorization_type: row.type as Schemas['AuthorizationType'],
    client_id: row.clientId ?? EMPTY,
    has_client_secret: row.clientSecretSealed !== null,
    scopes: row.scopes,
    allowed_tools: row.allowedTools,
    allowed_addresses: row.allowedAddresses,
    mcp_timeout_seconds: row.mcpTimeoutSeconds ?? MCP_UPSTREAM.callMs / 1000,
    send_trace_context: row.settings.sendTraceContext ?? false,
    verification_mode: row.verificationMode as Schemas['VerificationMode'],
    post_user_verify_redirect_url: row.postUserVerifyRedirectUrl ?? EMPTY,
    missing_settings: settings ? missingSettings(definition.pattern, settings) : ['provider'],
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
