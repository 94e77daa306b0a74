import { LIST } from '../core/budgets.ts';
import {
  type AccountOptions,
  type AccountReads,
  type AccountRepository,
  createAccountRepository,
} from './accounts/repository.ts';
import { type ApiClientReads, type ApiClientRepository, createApiClientRepository } from './api-clients.ts';
import { type AuditReads, type AuditRepository, createAuditRepository } from './audit.ts';
import { type AuditHeads, createAuditHeads } from './audit-heads.ts';
import { type AuthFlowReads, type AuthFlowRepository, createAuthFlowRepository } from './auth-flows.ts';
import { type AuthRequestReads, type AuthRequestRepository, createAuthRequestRepository } from './auth-requests.ts';
import {
  type CatalogueDigestReads,
  type CatalogueDigestRepository,
  createCatalogueDigestRepository,
} from './catalogue-digests.ts';
import { type ConnectionReads, type ConnectionRepository, createConnectionRepository } from './connections.ts';
import {
  type CustomProviderReads,
  type CustomProviderRepository,
  createCustomProviderRepository,
} from './custom-providers.ts';
import { createDataKeys } from './data-keys.ts';
import {
  createDeploymentSecretRepository,
  type DeploymentSecretReads,
  type DeploymentSecretRepository,
} from './deployment-secrets.ts';
import type { Ending } from './ending.ts';
import {
  createEnvironmentLogoRepository,
  type EnvironmentLogoReads,
  type EnvironmentLogoRepository,
} from './environment-logos.ts';
import {
  createEnvironmentToolRepository,
  type EnvironmentToolReads,
  type EnvironmentToolRepository,
} from './environment-tools.ts';
import { createEnvironmentRepository, type EnvironmentReads, type EnvironmentRepository } from './environments.ts';
import { createEventRepository, type EventReads, type EventRepository } from './events.ts';
import {
  createExecutionStatisticRepository,
  type ExecutionStatisticReads,
  type ExecutionStatisticRepository,
} from './execution-statistics.ts';
import { createExecutionRepository, type ExecutionReads, type ExecutionRepository } from './executions.ts';
import {
  createIdempotencyKeyRepository,
  type IdempotencyKeyReads,
  type IdempotencyKeyRepository,
} from './idempotency-keys.ts';
import { createInstanceRepository, type InstanceReads, type InstanceRepository } from './instances.ts';
import { createJobQueueRepository, type JobQueueReads, type JobQueueRepository } from './job-queue.ts';
import { createJobRepository, type JobReads, type JobRepository } from './jobs.ts';
import { createKeyRotationRepository, type KeyRotationReads, type KeyRotationRepository } from './key-rotation.ts';
import {
  createLoginProviderRepository,
  type LoginProviderReads,
  type LoginProviderRepository,
} from './login-providers.ts';
import { createMcpConfigRepository, type McpConfigReads, type McpConfigRepository } from './mcp-configs.ts';
import { createOAuthClientRepository, type OAuthClientReads, type OAuthClientRepository } from './oauth-clients.ts';
import { createOAuthGrantRepository, type OAuthGrantReads, type OAuthGrantRepository } from './oauth-grants.ts';
import { createOAuthLoginRepository, type OAuthLoginReads, type OAuthLoginRepository } from './oauth-logins.ts';
import {
  createOperatorSessionRepository,
  type OperatorSessionReads,
  type OperatorSessionRepository,
} from './operator-sessions.ts';
import { createPeriodicJobRepository, type PeriodicJobReads, type PeriodicJobRepository } from './periodic-jobs.ts';
import {
  createPortalSessionRepository,
  type PortalSessionReads,
  type PortalSessionRepository,
} from './portal-sessions.ts';
import { createRefreshLeaseRepository, type RefreshLeaseReads, type RefreshLeaseRepository } from './refresh-leases.ts';
import {
  createRefreshStatisticRepository,
  type RefreshStatisticReads,
  type RefreshStatisticRepository,
} from './refresh-statistics.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';
import {
  createStoredContentRepository,
  type StoredContentReads,
  type StoredContentRepository,
} from './stored-contents.ts';
import { createToolOverlayRepository, type ToolOverlayReads, type ToolOverlayRepository } from './tool-overlays.ts';
import {
  createWebhookDeliveryRepository,
  type WebhookDeliveryReads,
  type WebhookDeliveryRepository,
} from './webhook-deliveries.ts';
import {
  createWebhookEndpointRepository,
  type WebhookEndpointReads,
  type WebhookEndpointRepository,
} from './webhook-endpoints.ts';

/**
 * Every query of the product. All but a few listed exceptions take an environment as the first parameter
 * (test/db/environment-scope.test.ts).
 */
export interface Repositories extends ReadRepositories {
  environments: EnvironmentRepository;
  environmentLogos: EnvironmentLogoRepository;
  apiClients: ApiClientRepository;
  customProviders: CustomProviderRepository;
  environmentTools: EnvironmentToolRepository;
  toolOverlays: ToolOverlayRepository;
  connections: ConnectionRepository;
  accounts: AccountRepository;
  refreshLeases: RefreshLeaseRepository;
  refreshStatistics: RefreshStatisticRepository;
  authRequests: AuthRequestRepository;
  authFlows: AuthFlowRepository;
  jobs: JobRepository;
  jobQueue: JobQueueRepository;
  periodicJobs: PeriodicJobRepository;
  executions: ExecutionRepository;
  executionStatistics: ExecutionStatisticRepository;
  storedContents: StoredContentRepository;
  idempotencyKeys: IdempotencyKeyRepository;
  audit: AuditRepository;
  deploymentSecrets: DeploymentSecretRepository;
  instances: InstanceRepository;
  keyRotation: KeyRotationRepository;
  mcpConfigs: McpConfigRepository;
  loginProviders: LoginProviderRepository;
  oauthClients: OAuthClientRepository;
  oauthLogins: OAuthLoginRepository;
  portalSessions: PortalSessionRepository;
  oauthGrants: OAuthGrantRepository;
  operatorSessions: OperatorSessionRepository;
  catalogueDigests: CatalogueDigestRepository;
  events: EventRepository;
  webhookEndpoints: WebhookEndpointRepository;
  webhookDeliveries: WebhookDeliveryRepository;
}

/** The repositories that a unit of work receives; they write in its transaction. */
export interface Transaction extends Repositories {
  /**
   * Calls a function after this unit is committed, and never if it is rolled back. A unit must not have any other
   * effect outside of the database, because it may be rolled back and run again.
   */
  afterCommit(effect: () => void): void;
  /**
   * Lets other work run on the event loop. Units that write thousands of rows call it after each batch. The transaction
   * stays open and other writes wait, so the unit is still one atomic change.
   */
  yieldToEventLoop(): Promise<void>;
}

/** The repositories without their writing functions, for use outside of transactions. */
export interface ReadRepositories {
  environments: EnvironmentReads;
  environmentLogos: EnvironmentLogoReads;
  apiClients: ApiClientReads;
  customProviders: CustomProviderReads;
  environmentTools: EnvironmentToolReads;
  toolOverlays: ToolOverlayReads;
  connections: ConnectionReads;
  accounts: AccountReads;
  refreshLeases: RefreshLeaseReads;
  refreshStatistics: RefreshStatisticReads;
  authRequests: AuthRequestReads;
  authFlows: AuthFlowReads;
  jobs: JobReads;
  jobQueue: JobQueueReads;
  periodicJobs: PeriodicJobReads;
  executions: ExecutionReads;
  executionStatistics: ExecutionStatisticReads;
  storedContents: StoredContentReads;
  idempotencyKeys: IdempotencyKeyReads;
  audit: AuditReads;
  deploymentSecrets: DeploymentSecretReads;
  instances: InstanceReads;
  keyRotation: KeyRotationReads;
  mcpConfigs: McpConfigReads;
  loginProviders: LoginProviderReads;
  oauthClients: OAuthClientReads;
  oauthLogins: OAuthLoginReads;
  portalSessions: PortalSessionReads;
  oauthGrants: OAuthGrantReads;
  operatorSessions: OperatorSessionReads;
  catalogueDigests: CatalogueDigestReads;
  events: EventReads;
  webhookEndpoints: WebhookEndpointReads;
  webhookDeliveries: WebhookDeliveryReads;
}

/** Options that an engine passes to its repositories. */
export interface RepositoryOptions extends Partial<AccountOptions> {
  /**
   * See `Store.planChanges`. Without this function, `insertPlanned` always compares the versions of the rows that a
   * call was planned with.
   */
  planChanges?: () => number | null;
  /** Creates the object that appends to the audit chains; by default each environment has one chain. */
  auditHeads?: (statements: Statements) => AuditHeads;
  /** The number of the newest migration that this program knows. */
  schemaNumber?: number;
}

/**
 * Creates the repositories that use one connection to the database.
 *
 * @returns the repositories, and the functions that the engine must call when a transaction or a unit begins or ends
 */
export function createRepositories(
  statements: Statements,
  {
    pacing = IN_TRANSACTION,
    planChanges = () => null,
    accountInserted = () => {},
    auditHeads: createHeads = createAuditHeads,
    schemaNumber = 0,
  }: RepositoryOptions = {},
): { repositories: Repositories; ending: Ending } {
  const auditHeads = createHeads(statements);
  const dataKeys = createDataKeys(statements);
  const repositories: Repositories = {
    environments: createEnvironmentRepository(statements),
    environmentLogos: createEnvironmentLogoRepository(statements),
    apiClients: createApiClientRepository(statements),
    customProviders: createCustomProviderRepository(statements),
    environmentTools: createEnvironmentToolRepository(statements),
    toolOverlays: createToolOverlayRepository(statements),
    connections: createConnectionRepository(statements, dataKeys, pacing),
    accounts: createAccountRepository(statements, dataKeys, { pacing, accountInserted }),
    refreshLeases: createRefreshLeaseRepository(statements),
    refreshStatistics: createRefreshStatisticRepository(statements, pacing),
    authRequests: createAuthRequestRepository(statements, dataKeys),
    authFlows: createAuthFlowRepository(statements),
    jobs: createJobRepository(statements, dataKeys, pacing),
    jobQueue: createJobQueueRepository(statements),
    periodicJobs: createPeriodicJobRepository(statements),
    executions: createExecutionRepository(statements, pacing, planChanges),
    executionStatistics: createExecutionStatisticRepository(statements, pacing),
    storedContents: createStoredContentRepository(statements, dataKeys),
    idempotencyKeys: createIdempotencyKeyRepository(statements),
    audit: createAuditRepository(statements, auditHeads, pacing),
    deploymentSecrets: createDeploymentSecretRepository(statements),
    instances: createInstanceRepository(statements, schemaNumber),
    keyRotation: createKeyRotationRepository(statements, dataKeys),
    mcpConfigs: createMcpConfigRepository(statements),
    loginProviders: createLoginProviderRepository(statements, dataKeys),
    oauthClients: createOAuthClientRepository(statements),
    oauthLogins: createOAuthLoginRepository(statements),
    portalSessions: createPortalSessionRepository(statements),
    oauthGrants: createOAuthGrantRepository(statements, pacing),
    operatorSessions: createOperatorSessionRepository(statements),
    catalogueDigests: createCatalogueDigestRepository(statements),
    events: createEventRepository(statements, pacing),
    webhookEndpoints: createWebhookEndpointRepository(statements),
    webhookDeliveries: createWebhookDeliveryRepository(statements, pacing),
  };
  return { repositories, ending: auditHeads.ending };
}

/** Within a transaction, lists do not yield to the event loop. */
const IN_TRANSACTION: Pacing = { limits: LIST, yieldToEventLoop: async () => {} };
