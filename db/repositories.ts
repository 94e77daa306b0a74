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
import {
  createDeploymentSecretRepository,
  type DeploymentSecretReads,
  type DeploymentSecretRepository,
} from './deployment-secrets.ts';
import type { Ending } from './ending.ts';
import {
  createEnvironmentToolRepository,
  type EnvironmentToolReads,
  type EnvironmentToolRepository,
} from './environment-tools.ts';
import { createEnvironmentRepository, type EnvironmentReads, type EnvironmentRepository } from './environments.ts';
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
import { createMcpConfigRepository, type McpConfigReads, type McpConfigRepository } from './mcp-configs.ts';
import { createPeriodicJobRepository, type PeriodicJobReads, type PeriodicJobRepository } from './periodic-jobs.ts';
import { createRefreshLeaseRepository, type RefreshLeaseReads, type RefreshLeaseRepository } from './refresh-leases.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';
import {
  createStoredContentRepository,
  type StoredContentReads,
  type StoredContentRepository,
} from './stored-contents.ts';

/** Every query of the product. All but the pinned few take an environment first: test/db/environment-scope.test.ts. */
export interface Repositories extends ReadRepositories {
  environments: EnvironmentRepository;
  apiClients: ApiClientRepository;
  customProviders: CustomProviderRepository;
  environmentTools: EnvironmentToolRepository;
  connections: ConnectionRepository;
  accounts: AccountRepository;
  refreshLeases: RefreshLeaseRepository;
  authRequests: AuthRequestRepository;
  authFlows: AuthFlowRepository;
  jobs: JobRepository;
  jobQueue: JobQueueRepository;
  periodicJobs: PeriodicJobRepository;
  executions: ExecutionRepository;
  storedContents: StoredContentRepository;
  idempotencyKeys: IdempotencyKeyRepository;
  audit: AuditRepository;
  deploymentSecrets: DeploymentSecretRepository;
  instances: InstanceRepository;
  keyRotation: KeyRotationRepository;
  mcpConfigs: McpConfigRepository;
  catalogueDigests: CatalogueDigestRepository;
}

/** What a unit of work gets: the repositories, writing into its transaction. */
export interface Transaction extends Repositories {
  /**
   * Runs an effect once this unit is committed, and never if it is undone. A unit has no other effect outside of the database: it may
   * be undone, and it may be run again.
   */
  afterCommit(effect: () => void): void;
  /**
   * Lets other work have a turn of the event loop. For units that write thousands of rows: call it after each piece. The transaction
   * stays open and other writes wait, so it stays one change, which is seen as a whole or not at all.
   */
  breathe(): Promise<void>;
}

/** The half that needs no transaction. */
export interface ReadRepositories {
  environments: EnvironmentReads;
  apiClients: ApiClientReads;
  customProviders: CustomProviderReads;
  environmentTools: EnvironmentToolReads;
  connections: ConnectionReads;
  accounts: AccountReads;
  refreshLeases: RefreshLeaseReads;
  authRequests: AuthRequestReads;
  authFlows: AuthFlowReads;
  jobs: JobReads;
  jobQueue: JobQueueReads;
  periodicJobs: PeriodicJobReads;
  executions: ExecutionReads;
  storedContents: StoredContentReads;
  idempotencyKeys: IdempotencyKeyReads;
  audit: AuditReads;
  deploymentSecrets: DeploymentSecretReads;
  instances: InstanceReads;
  keyRotation: KeyRotationReads;
  mcpConfigs: McpConfigReads;
  catalogueDigests: CatalogueDigestReads;
}

/** What an engine can say about the repositories that it makes. */
export interface RepositoryOptions extends Partial<AccountOptions> {
  /** Makes the ends of the audit chains; by default an environment has one chain. */
  auditHeads?: (statements: Statements) => AuditHeads;
}

/**
 * The repositories over one connection.
 *
 * @returns with them what they leave to the end of a transaction, which must be called at the end of each transaction
 */
export function createRepositories(
  statements: Statements,
  {
    pacing = IN_TRANSACTION,
    accountInserted = () => {},
    auditHeads: createHeads = createAuditHeads,
  }: RepositoryOptions = {},
): { repositories: Repositories; ending: Ending } {
  const auditHeads = createHeads(statements);
  const repositories: Repositories = {
    environments: createEnvironmentRepository(statements),
    apiClients: createApiClientRepository(statements),
    customProviders: createCustomProviderRepository(statements),
    environmentTools: createEnvironmentToolRepository(statements),
    connections: createConnectionRepository(statements),
    accounts: createAccountRepository(statements, { pacing, accountInserted }),
    refreshLeases: createRefreshLeaseRepository(statements),
    authRequests: createAuthRequestRepository(statements),
    authFlows: createAuthFlowRepository(statements),
    jobs: createJobRepository(statements, pacing),
    jobQueue: createJobQueueRepository(statements),
    periodicJobs: createPeriodicJobRepository(statements),
    executions: createExecutionRepository(statements, pacing),
    storedContents: createStoredContentRepository(statements),
    idempotencyKeys: createIdempotencyKeyRepository(statements),
    audit: createAuditRepository(statements, auditHeads),
    deploymentSecrets: createDeploymentSecretRepository(statements),
    instances: createInstanceRepository(statements),
    keyRotation: createKeyRotationRepository(statements),
    mcpConfigs: createMcpConfigRepository(statements),
    catalogueDigests: createCatalogueDigestRepository(statements),
  };
  return { repositories, ending: auditHeads.ending };
}

/** A transaction does not end its turn. */
const IN_TRANSACTION: Pacing = { limits: LIST, breathe: async () => {} };
