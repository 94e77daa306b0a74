import type { AuthorizationType } from '../core/authorization/type.ts';
import { boolean, environment, json, paddedBytes } from './columns.ts';
import { blob, index, integer, primaryKey, table, text, uniqueIndex } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AccountBinding, AccountStatus } from './rows/accounts.ts';
import type { AuthRequestState } from './rows/auth-requests.ts';
import type { ClientBinding, ConnectionSettings, ConnectionStatus } from './rows/connections.ts';
import type { ToolSource } from './rows/environment-tools.ts';
import type { EnvironmentKind, EnvironmentSettings } from './rows/environments.ts';
import type { ExecutionStatus } from './rows/executions.ts';
import type { IdempotencyState } from './rows/idempotency-keys.ts';
import type { JobState } from './rows/jobs.ts';
import type { JsonObject } from './rows/json-object.ts';
import type { IdentityClaims, JwtSettings, LoginProviderType, OidcSettings } from './rows/login-providers.ts';
import type { StoredMcpMapping } from './rows/mcp-configs.ts';
import type { ClientAuthMethod, OAuthClientRow } from './rows/oauth-clients.ts';
import type { OAuthGrantRow } from './rows/oauth-grants.ts';
import type { LoginRequest, LoginState, LoginSubject } from './rows/oauth-logins.ts';
import type { OperatorRole, OperatorSessionState } from './rows/operator-sessions.ts';
import type { PortalSessionState } from './rows/portal-sessions.ts';
import type { RefreshState } from './rows/refresh-leases.ts';
import type { RefreshOutcomeName } from './rows/refresh-statistics.ts';
import type { ToolOverlaySettings } from './rows/tool-overlays.ts';
import type { WebhookAlgorithm, WebhookAttempt, WebhookDeliveryState, WebhookSecretRow } from './rows/webhooks.ts';

// The tables for typed queries. The migrations of each engine define the actual tables; a test of each engine compares
// the two.

export const migrations = table('migrations', {
  name: text().primaryKey().notNull(),
  sha256: text().notNull(),
  appliedAt: integer('applied_at').notNull(),
  readableFrom: integer('readable_from'),
});

export const environments = table('environments', {
  id: text().$type<EnvironmentId>().primaryKey().notNull(),
  ordinal: integer().notNull().unique('environments_ordinal'),
  kind: text().$type<EnvironmentKind>().notNull(),
  baseUrl: text('base_url').notNull(),
  settings: json<EnvironmentSettings>('settings').notNull(),
  createdAt: integer('created_at').notNull(),
});

export const environmentHosts = table(
  'environment_hosts',
  { host: text().primaryKey().notNull(), environmentId: environment().notNull() },
  (t) => [index('environment_hosts_environment').on(t.environmentId)],
);

export const environmentLogos = table('environment_logos', {
  environmentId: environment().primaryKey().notNull(),
  mediaType: text('media_type').notNull(),
  bytes: blob({ mode: 'buffer' }).notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const counters = table(
  'counters',
  {
    environmentId: environment().notNull(),
    name: text().$type<'accounts' | 'executions'>().notNull(),
    total: integer().notNull(),
    lastSeq: integer('last_seq').notNull(),
  },
  (t) => [primaryKey({ columns: [t.environmentId, t.name] })],
);

export const apiClients = table(
  'api_clients',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    name: text().notNull(),
    scopes: json<string[]>('scopes').notNull(),
    enabled: boolean('enabled').notNull(),
    generation: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [index('api_clients_page').on(t.environmentId, t.id)],
);

export const apiClientSecrets = table(
  'api_client_secrets',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    clientId: text('client_id').notNull(),
    digest: blob({ mode: 'buffer' }).notNull(),
    prefix: text().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
  },
  (t) => [index('api_client_secrets_client').on(t.clientId)],
);

export const customProviders = table(
  'custom_providers',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    identifier: text().notNull(),
    definition: json<JsonObject>('definition').notNull(),
    isMcp: boolean('is_mcp').notNull(),
    version: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [uniqueIndex('custom_providers_identifier').on(t.environmentId, t.identifier)],
);

export const environmentTools = table(
  'environment_tools',
  {
    environmentId: environment().notNull(),
    name: text().notNull(),
    connector: text().notNull(),
    source: text().$type<ToolSource>().notNull(),
    sourceId: text('source_id'),
    definition: text().notNull(),
    contentHash: text('content_hash').notNull(),
    flagged: text(),
    revision: integer().notNull(),
    version: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.environmentId, t.name] }),
    uniqueIndex('environment_tools_source').on(t.environmentId, t.connector, t.source, t.sourceId),
    index('environment_tools_connector').on(t.environmentId, t.connector, t.name),
    // The index ends with an expression that each engine writes differently: `Dialect.hasTrimmedMember` of the
    // description.
    index('environment_tools_description').on(t.environmentId, t.connector),
    index('environment_tools_revision').on(t.environmentId, t.revision, t.name),
  ],
);

export const environmentToolRevisions = table('environment_tool_revisions', {
  environmentId: environment().primaryKey().notNull(),
  revision: integer().notNull(),
});

export const toolOverlays = table(
  'tool_overlays',
  {
    environmentId: environment().notNull(),
    toolName: text('tool_name').notNull(),
    newName: text('new_name'),
    settings: json<ToolOverlaySettings>('settings').notNull(),
    toolDigest: text('tool_digest').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.environmentId, t.toolName] }),
    uniqueIndex('tool_overlays_new_name').on(t.environmentId, t.newName),
  ],
);

export const mcpConfigs = table(
  'mcp_configs',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    mappings: json<StoredMcpMapping[]>('mappings').notNull(),
    version: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [uniqueIndex('mcp_configs_name').on(t.environmentId, t.name)],
);

export const oauthClients = table(
  'oauth_clients',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    kind: text().$type<OAuthClientRow['kind']>().notNull(),
    name: text().notNull(),
    redirectUris: json<string[]>('redirect_uris').notNull(),
    authMethod: text('auth_method').$type<ClientAuthMethod>().notNull(),
    secretDigest: blob('secret_digest', { mode: 'buffer' }),
    refreshes: boolean('refreshes').notNull(),
    originDigest: blob('origin_digest', { mode: 'buffer' }),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [
    index('oauth_clients_environment').on(t.environmentId, t.id),
    index('oauth_clients_unused').on(t.environmentId, t.createdAt),
    index('oauth_clients_used').on(t.environmentId, t.usedAt),
    index('oauth_clients_origin').on(t.environmentId, t.originDigest, t.createdAt),
  ],
);

export const oauthLogins = table(
  'oauth_logins',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    state: text().$type<LoginState>().notNull(),
    tokenDigest: blob('token_digest', { mode: 'buffer' }).notNull(),
    browserDigest: blob('browser_digest', { mode: 'buffer' }).notNull(),
    request: json<LoginRequest>('request').notNull(),
    subject: json<LoginSubject>('subject'),
    grantId: text('grant_id'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('oauth_logins_token').on(t.environmentId, t.tokenDigest),
    index('oauth_logins_expiry').on(t.environmentId, t.expiresAt),
  ],
);

export const portalSessions = table(
  'portal_sessions',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    state: text().$type<PortalSessionState>().notNull(),
    tokenDigest: blob('token_digest', { mode: 'buffer' }).notNull(),
    organizationId: text('organization_id').notNull().default(''),
    userId: text('user_id').notNull().default(''),
    identifier: text().notNull(),
    userVerifyUrl: text('user_verify_url'),
    returnUrl: text('return_url'),
    language: text(),
    apiClientId: text('api_client_id').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('portal_sessions_token').on(t.environmentId, t.tokenDigest),
    index('portal_sessions_expiry').on(t.environmentId, t.expiresAt),
  ],
);

export const oauthGrants = table(
  'oauth_grants',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    clientId: text('client_id').notNull(),
    clientName: text('client_name').notNull(),
    clientKind: text('client_kind').$type<OAuthGrantRow['clientKind']>().notNull(),
    redirectHost: text('redirect_host').notNull(),
    serverId: text('server_id').notNull(),
    organizationId: text('organization_id').notNull().default(''),
    userId: text('user_id').notNull().default(''),
    identifier: text().notNull(),
    userVerifyUrl: text('user_verify_url'),
    scopes: json<string[]>('scopes').notNull(),
    identifiedBy: text('api_client_id').notNull(),
    generation: integer().notNull(),
    retiredAt: json<number[]>('retired_at').notNull(),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('oauth_grants_environment').on(t.environmentId, t.id),
    index('oauth_grants_identifier').on(t.environmentId, t.identifier, t.id),
    index('oauth_grants_user').on(t.environmentId, t.userId, t.id),
    index('oauth_grants_organization').on(t.environmentId, t.organizationId, t.id),
    index('oauth_grants_client').on(t.environmentId, t.clientId, t.id),
    index('oauth_grants_server').on(t.environmentId, t.serverId, t.id),
    index('oauth_grants_expiry').on(t.environmentId, t.expiresAt),
  ],
);

export const loginProviders = table(
  'login_providers',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    type: text().$type<LoginProviderType>().notNull(),
    issuer: text().notNull(),
    claims: json<IdentityClaims>('claims').notNull(),
    allowedOrganizations: json<string[]>('allowed_organizations'),
    userVerifyUrl: text('user_verify_url'),
    oidc: json<OidcSettings>('oidc'),
    jwt: json<JwtSettings>('jwt'),
    dataKey: integer('data_key'),
    kekId: text('kek_id'),
    clientSecretSealed: blob('client_secret_sealed', { mode: 'buffer' }),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [uniqueIndex('login_providers_environment').on(t.environmentId), index('login_providers_kek').on(t.kekId)],
);

export const operatorSessions = table(
  'operator_sessions',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    state: text().$type<OperatorSessionState>().notNull(),
    operator: text().notNull(),
    role: text().$type<OperatorRole>().notNull(),
    tokenDigest: blob('token_digest', { mode: 'buffer' }).notNull(),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at'),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('operator_sessions_token').on(t.environmentId, t.tokenDigest),
    index('operator_sessions_page').on(t.environmentId, t.id),
    index('operator_sessions_expiry').on(t.environmentId, t.expiresAt),
  ],
);

export const connections = table(
  'connections',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    keyId: text('key_id').notNull(),
    providerKey: text('provider_key').notNull(),
    type: text().notNull(),
    status: text().$type<ConnectionStatus>().notNull(),
    enabled: boolean('enabled').notNull(),
    organizationId: text('organization_id').notNull(),
    organizationName: text('organization_name').notNull(),
    domains: json<string[]>('domains').notNull(),
    clientId: text('client_id'),
    dataKey: integer('data_key'),
    kekId: text('kek_id'),
    clientSecretSealed: blob('client_secret_sealed', { mode: 'buffer' }),
    clientGeneration: integer('client_generation').notNull(),
    clientBinding: json<ClientBinding>('client_binding'),
    scopes: json<string[]>('scopes').notNull(),
    allowedTools: json<string[]>('allowed_tools'),
    allowedAddresses: json<string[]>('allowed_addresses'),
    mcpTimeoutSeconds: integer('mcp_timeout_seconds'),
    verificationMode: text('verification_mode').notNull(),
    postUserVerifyRedirectUrl: text('post_user_verify_redirect_url'),
    settings: json<ConnectionSettings>('settings').notNull(),
    version: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('connections_key_id').on(t.environmentId, t.keyId),
    uniqueIndex('connections_page').on(t.environmentId, t.id),
    index('connections_provider').on(t.environmentId, t.providerKey),
    index('connections_kek').on(t.kekId),
  ],
);

/**
 * More bytes than any wrapped data key has. The only part of a wrapped key whose length varies is the id of the
 * key-encryption key.
 */
const DATA_KEY_BYTES = 128;

export const dataKeys = table(
  'data_keys',
  {
    slot: integer().primaryKey().notNull(),
    used: integer().$type<0 | 1>().notNull(),
    wrapped: paddedBytes('wrapped', DATA_KEY_BYTES).notNull(),
  },
  (t) => [index('data_keys_free').on(t.used)],
);

export const accounts = table(
  'accounts',
  {
    seq: integer().primaryKey().notNull(),
    id: text().notNull(),
    environmentId: environment().notNull(),
    connectionId: text('connection_id').notNull(),
    connector: text().notNull(),
    provider: text().notNull(),
    organizationId: text('organization_id').notNull(),
    userId: text('user_id').notNull(),
    identifier: text().notNull(),
    authorizationType: text('authorization_type').$type<AuthorizationType>().notNull(),
    status: text().$type<AccountStatus>().notNull(),
    statusReason: text('status_reason'),
    tokenExpiresAt: integer('token_expires_at'),
    lastUsedAt: integer('last_used_at'),
    apiConfig: json<JsonObject>('api_config').notNull(),
    publicDetails: json<JsonObject>('public_details'),
    origins: json<string[]>('origins').notNull(),
    binding: json<AccountBinding>('binding').notNull(),
    providerSubject: text('provider_subject'),
    requiredScopes: json<string[]>('required_scopes'),
    dataKey: integer('data_key'),
    kekId: text('kek_id'),
    credentialsSealed: blob('credentials_sealed', { mode: 'buffer' }),
    temporarySealed: blob('temporary_sealed', { mode: 'buffer' }),
    credentialGeneration: integer('credential_generation').notNull(),
    searchText: text('search_text').notNull(),
    version: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('accounts_id').on(t.id),
    uniqueIndex('accounts_identity').on(t.connectionId, t.identifier, t.organizationId, t.userId),
    index('accounts_connection').on(t.connectionId, t.seq, t.status, t.searchText),
    index('accounts_organization').on(t.organizationId, t.seq, t.status),
    index('accounts_user').on(t.userId),
    index('accounts_provider').on(t.provider, t.seq, t.status),
    index('accounts_identifier').on(t.identifier),
    index('accounts_status').on(t.status),
    index('accounts_kek').on(t.kekId),
    index('accounts_subject').on(t.connectionId, t.providerSubject),
    index('accounts_idle').on(t.environmentId, t.provider, t.authorizationType, t.tokenExpiresAt),
  ],
);

export const accountCounts = table(
  'account_counts',
  {
    connectionId: text('connection_id').notNull(),
    status: text().$type<AccountStatus>().notNull(),
    total: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.connectionId, t.status] })],
);

export const accountTombstones = table('account_tombstones', {
  id: text().primaryKey().notNull(),
  environmentId: environment().notNull(),
  seq: integer().notNull(),
  generation: integer().notNull(),
  deletedAt: integer('deleted_at').notNull(),
});

export const authRequests = table(
  'auth_requests',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id').notNull(),
    state: text().$type<AuthRequestState>().notNull(),
    linkDigest: blob('link_digest', { mode: 'buffer' }).notNull(),
    linkExpiresAt: integer('link_expires_at').notNull(),
    requestDigest: blob('request_digest', { mode: 'buffer' }),
    identifier: text().notNull(),
    userVerifyUrl: text('user_verify_url'),
    callerState: text('caller_state'),
    origins: json<string[]>('origins').notNull(),
    dataKey: integer('data_key'),
    kekId: text('kek_id'),
    pendingSealed: blob('pending_sealed', { mode: 'buffer' }),
    mismatches: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    endedAt: integer('ended_at'),
    language: text(),
    error: text(),
  },
  (t) => [
    uniqueIndex('auth_requests_link').on(t.linkDigest),
    uniqueIndex('auth_requests_request').on(t.requestDigest),
    index('auth_requests_account').on(t.accountId),
    index('auth_requests_due').on(t.environmentId, t.expiresAt),
    index('auth_requests_ended').on(t.environmentId, t.endedAt),
    index('auth_requests_kek').on(t.kekId),
  ],
);

export const authFlows = table(
  'auth_flows',
  {
    stateDigest: blob('state_digest', { mode: 'buffer' }).primaryKey().notNull(),
    environmentId: environment().notNull(),
    requestId: text('request_id').notNull(),
    connectionId: text('connection_id').notNull(),
    browserDigest: blob('browser_digest', { mode: 'buffer' }).notNull(),
    keptSealed: blob('kept_sealed', { mode: 'buffer' }),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    spentAt: integer('spent_at'),
  },
  (t) => [index('auth_flows_request').on(t.requestId), index('auth_flows_expiry').on(t.environmentId, t.expiresAt)],
);

export const jobs = table(
  'jobs',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    kind: text().notNull(),
    lane: text().notNull(),
    subjectId: text('subject_id'),
    kekId: text('kek_id'),
    dataKey: integer('data_key'),
    payloadSealed: blob('payload_sealed', { mode: 'buffer' }),
    state: text().$type<JobState>().notNull(),
    attempts: integer().notNull(),
    runAt: integer('run_at').notNull(),
    giveUpAt: integer('give_up_at').notNull(),
    owner: integer(),
    result: text(),
    reason: text(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('jobs_due').on(t.kind, t.environmentId, t.lane, t.runAt),
    index('jobs_running').on(t.owner),
    index('jobs_open').on(t.environmentId, t.id),
    index('jobs_tally').on(t.kind, t.state, t.runAt),
    index('jobs_list').on(t.environmentId, t.kind, t.id),
    index('jobs_subject').on(t.subjectId, t.id),
    index('jobs_ended').on(t.environmentId, t.updatedAt),
    index('jobs_kept').on(t.environmentId, t.updatedAt),
    index('jobs_kek').on(t.kekId),
  ],
);

export const periodicJobs = table('periodic_jobs', {
  name: text().primaryKey().notNull(),
  nextAt: integer('next_at').notNull(),
  holder: integer(),
});

export const refreshLeases = table(
  'refresh_leases',
  {
    accountId: text('account_id').primaryKey().notNull(),
    environmentId: environment().notNull(),
    fencing: integer().notNull(),
    state: text().$type<RefreshState>().notNull(),
    generation: integer().notNull(),
    owner: text(),
    expiresAt: integer('expires_at'),
    failures: integer().notNull(),
    lastFailure: text('last_failure'),
    retryAt: integer('retry_at'),
    versions: text(),
  },
  (t) => [index('refresh_leases_held').on(t.environmentId)],
);

export const instances = table('instances', {
  number: integer().primaryKey({ autoIncrement: true }).notNull(),
  id: text().notNull().unique(),
  version: text().notNull(),
  startedAt: integer('started_at').notNull(),
  beatAt: integer('beat_at').notNull(),
  schemaNumber: integer('schema_number').notNull(),
  keys: json<string[]>('keys').notNull().default([]),
});

export const executions = table(
  'executions',
  {
    seq: integer().primaryKey().notNull(),
    id: text().notNull(),
    environmentId: environment().notNull(),
    accountId: text('account_id'),
    connector: text().notNull(),
    toolName: text('tool_name').notNull(),
    agentRunId: text('agent_run_id'),
    apiClientId: text('api_client_id').notNull(),
    instance: integer().notNull(),
    status: text().$type<ExecutionStatus>().notNull(),
    errorKind: text('error_kind'),
    upstreamStatus: integer('upstream_status'),
    startedAt: integer('started_at').notNull(),
    finishedAt: integer('finished_at'),
    steps: text(),
  },
  (t) => [
    uniqueIndex('executions_id').on(t.id),
    index('executions_account').on(t.accountId),
    index('executions_agent_run').on(t.agentRunId),
    index('executions_connector').on(t.connector),
    index('executions_tool').on(t.toolName),
    index('executions_status').on(t.status),
    index('executions_started').on(t.environmentId, t.startedAt),
  ],
);

export const executionStatistics = table(
  'execution_statistics',
  {
    environmentId: environment().notNull(),
    hour: integer().notNull(),
    connector: text().notNull(),
    toolName: text('tool_name').notNull(),
    status: text().$type<ExecutionStatus>().notNull(),
    errorKind: text('error_kind').notNull(),
    upToMs: integer('up_to_ms').notNull(),
    total: integer().notNull(),
  },
  (t) => [
    primaryKey({
      columns: [t.environmentId, t.hour, t.connector, t.toolName, t.status, t.errorKind, t.upToMs],
    }),
  ],
);

export const refreshStatistics = table(
  'refresh_statistics',
  {
    environmentId: environment().notNull(),
    hour: integer().notNull(),
    connector: text().notNull(),
    outcome: text().$type<RefreshOutcomeName>().notNull(),
    errorKind: text('error_kind').notNull(),
    total: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.environmentId, t.hour, t.connector, t.outcome, t.errorKind] })],
);

export const executionCounts = table(
  'execution_counts',
  {
    environmentId: environment().notNull(),
    connector: text().notNull(),
    toolName: text('tool_name').notNull(),
    status: text().$type<ExecutionStatus>().notNull(),
    total: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.environmentId, t.connector, t.toolName, t.status] })],
);

export const executionBlocks = table('execution_blocks', {
  block: integer().primaryKey().notNull(),
  firstStartedAt: integer('first_started_at').notNull(),
  lastStartedAt: integer('last_started_at').notNull(),
});

export const storedContents = table(
  'stored_contents',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    kind: text().$type<'file' | 'execution'>().notNull(),
    accountId: text('account_id').notNull(),
    organizationId: text('organization_id').notNull().default(''),
    userId: text('user_id').notNull().default(''),
    size: integer().notNull(),
    kekId: text('kek_id').notNull(),
    dataKey: integer('data_key').notNull(),
    sealed: blob({ mode: 'buffer' }).notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('stored_contents_account').on(t.accountId),
    index('stored_contents_size').on(t.environmentId, t.kind, t.size),
    index('stored_contents_expiry').on(t.environmentId, t.expiresAt),
    index('stored_contents_age').on(t.environmentId, t.kind, t.createdAt),
    index('stored_contents_kek').on(t.kekId),
  ],
);

export const idempotencyKeys = table(
  'idempotency_keys',
  {
    environmentId: environment().notNull(),
    clientId: text('client_id').notNull(),
    route: text().notNull(),
    keyDigest: blob('key_digest', { mode: 'buffer' }).notNull(),
    requestDigest: blob('request_digest', { mode: 'buffer' }).notNull(),
    state: text().$type<IdempotencyState>().notNull(),
    status: integer(),
    sealedReply: blob('sealed_reply', { mode: 'buffer' }),
    executionId: text('execution_id'),
    instance: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.environmentId, t.clientId, t.route, t.keyDigest] }),
    index('idempotency_keys_expiry').on(t.environmentId, t.expiresAt),
    index('idempotency_keys_running').on(t.environmentId, t.createdAt),
  ],
);

/** The storage in bytes of each client's keys, including the stored responses; maintained by triggers. */
export const idempotencyBytes = table(
  'idempotency_bytes',
  { environmentId: environment().notNull(), clientId: text('client_id').notNull(), bytes: integer().notNull() },
  (t) => [primaryKey({ columns: [t.environmentId, t.clientId] })],
);

export const auditLog = table('audit_log', {
  seq: integer().primaryKey().notNull(),
  id: text().notNull().unique('audit_log_id'),
  environmentId: environment().notNull(),
  at: integer().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subjectId: text('subject_id'),
  requestId: text('request_id'),
  details: json<JsonObject>('details').notNull(),
  prevHash: blob('prev_hash', { mode: 'buffer' }).notNull(),
  hash: blob({ mode: 'buffer' }).notNull(),
});

export const auditHeads = table(
  'audit_heads',
  {
    environmentId: environment().notNull(),
    seq: integer().notNull(),
    hash: blob({ mode: 'buffer' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.environmentId, t.seq] })],
);

export const auditArchives = table(
  'audit_archives',
  {
    environmentId: environment().notNull(),
    archivedSeq: integer('archived_seq').notNull(),
    removedSeq: integer('removed_seq').notNull(),
    removedHash: blob('removed_hash', { mode: 'buffer' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.environmentId, t.archivedSeq] })],
);

export const deploymentSecrets = table('deployment_secrets', {
  name: text().primaryKey().notNull(),
  kekId: text('kek_id').notNull(),
  sealed: blob({ mode: 'buffer' }).notNull(),
  createdAt: integer('created_at').notNull(),
});

export const keyChecks = table('key_checks', {
  kekId: text('kek_id').primaryKey().notNull(),
  checkValue: blob('check_value', { mode: 'buffer' }).notNull(),
  createdAt: integer('created_at').notNull(),
});

export const catalogueDigests = table('catalogue_digests', {
  environmentId: environment().primaryKey().notNull(),
  digests: json<Record<string, string>>('digests').notNull(),
});

export const eventHeads = table('event_heads', {
  environmentId: environment().primaryKey().notNull(),
  seq: integer().notNull(),
});

export const events = table(
  'events',
  {
    seq: integer().primaryKey().notNull(),
    id: text().notNull().unique('events_id'),
    environmentId: environment().notNull(),
    type: text().notNull(),
    subjectId: text('subject_id').notNull(),
    body: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('events_type').on(t.environmentId, t.type, t.seq),
    index('events_subject').on(t.environmentId, t.subjectId, t.seq),
    index('events_age').on(t.environmentId, t.createdAt),
  ],
);

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    url: text().notNull(),
    description: text().notNull(),
    eventTypes: json<string[]>('event_types').notNull(),
    ordered: boolean('ordered').notNull(),
    algorithm: text().$type<WebhookAlgorithm>().notNull(),
    secrets: json<WebhookSecretRow[]>('secrets').notNull(),
    enabled: boolean('enabled').notNull(),
    disabledReason: text('disabled_reason').notNull(),
    failingSince: integer('failing_since'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [index('webhook_endpoints_page').on(t.environmentId, t.id)],
);

export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: text().primaryKey().notNull(),
    environmentId: environment().notNull(),
    endpointId: text('endpoint_id').notNull(),
    eventId: text('event_id').notNull(),
    eventSeq: integer('event_seq').notNull(),
    eventType: text('event_type').notNull(),
    subjectId: text('subject_id').notNull(),
    state: text().$type<WebhookDeliveryState>().notNull(),
    jobId: text('job_id'),
    attempts: integer().notNull(),
    nextAttemptAt: integer('next_attempt_at'),
    lastAttempt: json<WebhookAttempt>('last_attempt'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('webhook_deliveries_list').on(t.environmentId, t.id, t.eventType, t.state),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.id, t.environmentId, t.eventType, t.state),
    index('webhook_deliveries_event').on(t.eventId),
    index('webhook_deliveries_open').on(t.endpointId, t.subjectId, t.eventSeq),
    index('webhook_deliveries_age').on(t.environmentId, t.createdAt),
  ],
);
