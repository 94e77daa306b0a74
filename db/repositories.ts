import { LIST } from '../core/budgets.ts';
import { type AccountReads, type AccountRepository, createAccountRepository } from './accounts/repository.ts';
import { type ApiClientReads, type ApiClientRepository, createApiClientRepository } from './api-clients.ts';
import { type AuditReads, type AuditRepository, createAuditRepository } from './audit.ts';
import { createAuditHeads } from './audit-heads.ts';
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
import { createDb } from './database.ts';
import {
  createDeploymentSecretRepository,
  type DeploymentSecretReads,
  type DeploymentSecretRepository,
} from './deployment-secrets.ts';
import { type Ending, joinEndings } from './ending.ts';
import {
  createEnvironmentToolRepository,
  type EnvironmentToolReads,
  type EnvironmentToolRepository,
} from './environment-tools.ts';
import { createEnvironmentRepository, type EnvironmentReads, type EnvironmentRepository } from './environments.ts';
import { StorageError, translateError } from './errors.ts';
import { createExecutionRepository, type ExecutionReads, type ExecutionRepository } from './executions.ts';
import {
  createIdempotencyKeyRepository,
  type IdempotencyKeyReads,
  type IdempotencyKeyRepository,
} from './idempotency-keys.ts';
import { createInstanceRepository, type InstanceReads, type InstanceRepository } from './instances.ts';
import { createKeyRotationRepository, type KeyRotationReads, type KeyRotationRepository } from './key-rotation.ts';
import { createMcpConfigRepository, type McpConfigReads, type McpConfigRepository } from './mcp-configs.ts';
import { createOutboxRepository, type OutboxReads, type OutboxRepository } from './outbox.ts';
import { createRefreshLeaseRepository, type RefreshLeaseReads, type RefreshLeaseRepository } from './refresh-leases.ts';
import type { Pacing } from './slices.ts';
import type { Client } from './sqlite/open.ts';
import { createSearchIndex } from './sqlite/search-index.ts';
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
  outbox: OutboxRepository;
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
  outbox: OutboxReads;
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

/**
 * The repositories over one connection. Their functions settle without I/O of their own, which the group commit relies on.
 *
 * @param pacing of lists that are read outside of transactions
 * @param failed is told of each StorageError
 * @returns with them what they leave to the end of a transaction, which whoever opens transactions has to call
 */
export function createRepositories(
  client: Client,
  pacing: Pacing = IN_TRANSACTION,
  failed: (error: StorageError) => void = () => {},
): { repositories: Repositories; ending: Ending } {
  const db = createDb(client);
  const searchIndex = createSearchIndex(db);
  const auditHeads = createAuditHeads(db);
  const shown = <T extends object>(repository: T) => translated(repository, failed);
  const repositories: Repositories = {
    environments: shown(createEnvironmentRepository(db)),
    apiClients: shown(createApiClientRepository(db)),
    customProviders: shown(createCustomProviderRepository(db)),
    environmentTools: shown(createEnvironmentToolRepository(db)),
    connections: shown(createConnectionRepository(db)),
    accounts: shown(createAccountRepository(db, searchIndex, pacing)),
    refreshLeases: shown(createRefreshLeaseRepository(db)),
    authRequests: shown(createAuthRequestRepository(db)),
    authFlows: shown(createAuthFlowRepository(db)),
    outbox: shown(createOutboxRepository(db, pacing)),
    executions: shown(createExecutionRepository(db, pacing)),
    storedContents: shown(createStoredContentRepository(db)),
    idempotencyKeys: shown(createIdempotencyKeyRepository(db)),
    audit: shown(createAuditRepository(db, auditHeads)),
    deploymentSecrets: shown(createDeploymentSecretRepository(db)),
    instances: shown(createInstanceRepository(db)),
    keyRotation: shown(createKeyRotationRepository(db)),
    mcpConfigs: shown(createMcpConfigRepository(db)),
    catalogueDigests: shown(createCatalogueDigestRepository(db)),
  };
  return { repositories, ending: joinEndings([searchIndex.ending, auditHeads.ending]) };
}

/** A transaction does not end its turn. */
const IN_TRANSACTION: Pacing = { limits: LIST, breathe: async () => {} };

/** The same functions, whose rejections are errors of this folder instead of the driver's. */
function translated<T extends object>(repository: T, failed: (error: StorageError) => void): T {
  const rethrow = (error: unknown): never => {
    const translation = translateError(error);
    if (translation instanceof StorageError) failed(translation);
    throw translation;
  };
  const entries = Object.entries(repository) as [string, (...args: unknown[]) => Promise<unknown>][];
  const wrapped = entries.map(([name, call]) => [name, (...args: unknown[]) => call(...args).catch(rethrow)]);
  return Object.fromEntries(wrapped) as T;
}
