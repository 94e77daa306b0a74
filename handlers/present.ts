import { type Details, withoutInternals } from '../core/accounts/details.ts';
import { type CreatedLink, DEFAULT_LINK_TTL_MS } from '../core/accounts/links/create-link.ts';
import type { CustomProviderDefinition } from '../core/connections/providers.ts';
import { missingSettings } from '../core/connections/status.ts';
import { identityProviderOf } from '../core/connections/vendor.ts';
import type { AuthPattern } from '../core/connectors/auth-pattern.ts';
import { contractPattern } from '../core/connectors/contract-pattern.ts';
import type { Connector } from '../core/connectors/provider.ts';
import { DEFAULT_RETENTION_DAYS } from '../core/contents/execution-contents.ts';
import { definitionOf } from '../core/discovery/custom-tools.ts';
import type { KnownTool } from '../core/discovery/directory.ts';
import type { FoundTool } from '../core/discovery/find-tools.ts';
import { anthropicTool, mcpTool, openAiTool } from '../core/discovery/formats.ts';
import { mcpServerUrl } from '../core/mcp/server-definition.ts';
import type { SyncReport } from '../core/mcp/upstream/sync.ts';
import { rfc3339 } from '../core/rfc3339.ts';
import { publicInputSchema } from '../core/tools/input.ts';
import type { Tool } from '../core/tools/tool.ts';
import type {
  AccountRow,
  AccountShownRow,
  AccountSummaryRow,
  ApiClientRow,
  ApiClientSecretRow,
  ConnectionRow,
  CustomProviderRow,
  EnvironmentRow,
  ExecutionRow,
  McpConfigRow,
  OutboxRow,
} from '../db/store.ts';
import type { Schemas } from '../http/contract.ts';

/** Rows of the database as the contract shows them. The only place where the two meet. */

const EMPTY = '';

function optionalTime(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}

/** @param lastUsedAt milliseconds UTC; the caller knows uses that are not written yet */
export function presentSummary(row: AccountSummaryRow, lastUsedAt: number | null): Schemas['ConnectedAccountSummary'] {
  return {
    id: row.id,
    connection_id: row.connectionId,
    connector: row.connector,
    provider: row.provider,
    organization_id: row.organizationId,
    user_id: row.userId,
    identifier: row.identifier,
    authorization_type: row.authorizationType,
    status: row.status,
    status_reason: row.statusReason ?? EMPTY,
    token_expires_at: optionalTime(row.tokenExpiresAt),
    last_used_at: optionalTime(lastUsedAt),
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

/** @param details the opened credentials; what may never be answered is left out here */
export function presentAccount(
  row: AccountRow,
  details: Details,
  lastUsedAt: number | null,
): Schemas['ConnectedAccount'] {
  return {
    ...presentSummary(row, lastUsedAt),
    api_config: row.apiConfig,
    authorization_details: withoutInternals(details) as Schemas['AuthorizationDetails'],
  };
}

export function presentAccountDetails(
  row: AccountShownRow,
  lastUsedAt: number | null,
): Schemas['ConnectedAccountDetails'] {
  return {
    ...presentSummary(row, lastUsedAt),
    api_config: row.apiConfig,
    authorization_details: (row.publicDetails ?? {}) as Schemas['AuthorizationDetailsWithoutSecrets'],
  };
}

/** Types of accounts by the coarser types of connections. */
const CONNECTION_TYPES: Record<string, Schemas['ConnectionType']> = {
  BEARER_TOKEN: 'BEARER',
  BASIC_AUTH: 'BASIC',
  CUSTOM: 'API_KEY',
};

export function connectionTypeOf(authorizationType: string): Schemas['ConnectionType'] {
  return CONNECTION_TYPES[authorizationType] ?? (authorizationType as Schemas['ConnectionType']);
}

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
    provider: identityProviderOf(vendor),
    provider_key: row.providerKey,
    status: row.status,
    type: connectionTypeOf(row.type),
  };
}

/** @param pattern of the provider for the connection's type; undefined when the provider has been deleted */
export function presentConfiguration(
  row: ConnectionRow,
  vendor: string | undefined,
  pattern: AuthPattern | undefined,
  environment: Pick<EnvironmentRow, 'baseUrl'>,
): Schemas['ConnectionConfiguration'] {
  const settings = { clientId: row.clientId, hasClientSecret: row.clientSecretSealed !== null };
  return {
    ...presentConnection(row, vendor, environment),
    authorization_type: row.type as Schemas['AuthorizationType'],
    client_id: row.clientId ?? EMPTY,
    has_client_secret: settings.hasClientSecret,
    scopes: row.scopes,
    allowed_tools: row.allowedTools,
    verification_mode: row.verificationMode as Schemas['VerificationMode'],
    post_user_verify_redirect_url: row.postUserVerifyRedirectUrl ?? EMPTY,
    missing_settings: pattern ? missingSettings(pattern, settings) : ['provider'],
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

export function presentCustomProvider(row: CustomProviderRow): Schemas['Provider'] {
  const definition = row.definition as unknown as CustomProviderDefinition;
  return {
    ...definition,
    auth_patterns: definition.auth_patterns.map(contractPattern) as Schemas['AuthPattern'][],
    id: row.id,
    identifier: row.identifier,
    categories: [],
    coming_soon: false,
    display_priority: 0,
    is_custom: true,
    is_custom_mcp: row.isMcp,
  };
}

export function presentConnector(connector: Connector): Schemas['Provider'] {
  return {
    id: connector.identifier,
    identifier: connector.identifier,
    display_name: connector.display_name,
    description: connector.description,
    icon_src: EMPTY,
    metadata: {},
    proxy_enabled: false,
    proxy_url: EMPTY,
    auth_patterns: connector.auth_patterns.map(presentPattern),
    categories: connector.categories,
    coming_soon: false,
    display_priority: connector.display_priority,
    is_custom: false,
    is_custom_mcp: false,
  };
}

/** A pattern of the catalogue without the keys that only connector files have. */
function presentPattern({ auth_scheme: _scheme, ...pattern }: AuthPattern): Schemas['AuthPattern'] {
  return pattern as Schemas['AuthPattern'];
}

export interface ToolView {
  format: 'native' | 'openai' | 'anthropic' | 'mcp';
  detail: 'compact' | 'full';
}

/** A tool as `format` and `detail` ask for it. */
export function presentToolAs({ tool, source }: KnownTool, { format, detail }: ToolView): Schemas['FormattedTool'] {
  switch (format) {
    case 'openai':
      return openAiTool(tool) as Schemas['OpenAiTool'];
    case 'anthropic':
      return anthropicTool(tool);
    case 'mcp':
      return mcpTool(tool);
    case 'native':
      return detail === 'full' ? presentTool({ tool, source }) : summaryOf(tool, source);
  }
}

export function presentTool({ tool, source }: Pick<KnownTool, 'tool' | 'source'>): Schemas['Tool'] {
  return { ...summaryOf(tool, source), input_schema: publicInputSchema(tool), output_schema: tool.output_schema };
}

function summaryOf(tool: Tool, source: KnownTool['source']): Schemas['ToolSummary'] {
  const { reason: _reason, ...hints } = tool.hints;
  return {
    name: tool.name,
    title: tool.title,
    connector: tool.connector,
    description: tool.description,
    tags: tool.tags,
    hints,
    scopes: tool.scopes,
    paginated: tool.pagination !== undefined,
    source,
  };
}

/** A tool of the environment's own, with what its author wrote. */
export function presentOwnTool(tool: Tool): Schemas['ToolDefinitionResponse'] {
  return {
    tool: presentTool({ tool, source: 'custom' }),
    definition: definitionOf(tool) as unknown as Schemas['ToolDefinition'],
  };
}

export function presentToolAccount(row: AccountSummaryRow): Schemas['ToolAccount'] {
  return {
    connected_account_id: row.id,
    connector: row.connector,
    identifier: row.identifier,
    organization_id: row.organizationId,
    user_id: row.userId,
  };
}

export function presentHit(hit: FoundTool, view: ToolView): Schemas['ToolHit'] {
  const { readiness, account, missingScopes, next } = hit;
  return {
    tool: presentToolAs(hit, view),
    readiness,
    connector: hit.connector,
    connected_account_id: account?.id ?? null,
    missing_scopes: missingScopes,
    next_step: next && {
      operation_id: next.operationId as Schemas['ToolNextStep']['operation_id'],
      arguments: next.arguments,
      message: next.message,
    },
  };
}

export function presentExecution(row: ExecutionRow): Schemas['Execution'] {
  return {
    id: row.id,
    connected_account_id: row.accountId ?? EMPTY,
    connector: row.connector,
    tool_name: row.toolName,
    agent_run_id: row.agentRunId,
    api_client_id: row.apiClientId,
    status: row.status,
    error_kind: row.errorKind as Schemas['ToolErrorKind'] | null,
    upstream_status: row.upstreamStatus,
    started_at: rfc3339(row.startedAt),
    finished_at: optionalTime(row.finishedAt),
    duration_ms: row.finishedAt === null ? null : row.finishedAt - row.startedAt,
  };
}

export function presentMcpConfig(
  { id, name, description, mappings, createdAt, updatedAt }: McpConfigRow,
  environment: Pick<EnvironmentRow, 'baseUrl'>,
): Schemas['McpConfig'] {
  return {
    id,
    name,
    description,
    mappings: mappings.map(({ connectionId, tools }) => ({ connection_id: connectionId, tools })),
    mcp_server_url: mcpServerUrl(environment, id),
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
  };
}

export function presentSyncReport({ leftOut, ...report }: SyncReport): Schemas['ToolSyncReport'] {
  return { ...report, left_out: leftOut };
}

const REVOCATION_STATUSES = { WAITING: 'PENDING', FAILED: 'FAILED', DONE: 'REVOKED' } as const;

export function presentRevocation(row: OutboxRow): Schemas['Revocation'] {
  return {
    id: row.id,
    connected_account_id: row.subjectId ?? EMPTY,
    provider: row.provider ?? EMPTY,
    status: row.result ?? REVOCATION_STATUSES[row.state],
    reason: row.lastError ?? EMPTY,
    attempts: row.attempts,
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

export function presentApiClient(row: ApiClientRow, secrets: ApiClientSecretRow[]): Schemas['ApiClient'] {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as Schemas['Scope'][],
    enabled: row.enabled,
    created_at: rfc3339(row.createdAt),
    secrets: secrets.map((secret) => ({
      id: secret.id,
      prefix: secret.prefix,
      created_at: rfc3339(secret.createdAt),
      expires_at: optionalTime(secret.expiresAt),
    })),
  };
}

export function presentLink({ url, expiresAt }: CreatedLink): Schemas['MagicLink'] {
  return { link: url, expiry: rfc3339(expiresAt) };
}

export function presentEnvironment({
  id,
  kind,
  baseUrl,
  hosts,
  settings,
  createdAt,
}: EnvironmentRow): Schemas['Environment'] {
  return {
    id,
    kind,
    base_url: baseUrl,
    hosts,
    link_lifetime_seconds: (settings.linkTtlMs ?? DEFAULT_LINK_TTL_MS) / 1000,
    user_verify_urls: settings.userVerifyUrls ?? [],
    execution_retention_days: settings.executionRetentionDays ?? DEFAULT_RETENTION_DAYS,
    keep_execution_contents: settings.keepExecutionContents ?? false,
    created_at: rfc3339(createdAt),
  };
}
