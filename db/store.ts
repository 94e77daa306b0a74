export type { AccountReads, AccountRepository } from './accounts/repository.ts';
export type { AuditChain } from './audit-heads.ts';
export { AUDIT_HEAD } from './audit-witness.ts';
export { type CopyReport, copyDatabase } from './copy/copy.ts';
export type { CopyEnd, CopySource, CopyTarget } from './copy/port.ts';
export type { BackupRequest, DatabaseFiles, Manifest, Target } from './database-files.ts';
export type { DatabaseState, ReplicaState, StandbyState } from './database-state.ts';
export type {
  CheckLine,
  ConnectionOptions,
  Engine,
  Hold,
  MigrateOptions,
  StoreOptions,
  StoreWatch,
} from './engine.ts';
export { type EnvironmentId, environmentId } from './environment-id.ts';
export { contentHash } from './environment-tools.ts';
export { RelationError, RetryableError, StorageError, UniqueError } from './errors.ts';
export type { Page, PageRequest, Total } from './page.ts';
export type { ReadRepositories, Repositories, Transaction } from './repositories.ts';
export type * from './rows/accounts.ts';
export type * from './rows/api-clients.ts';
export type * from './rows/audit.ts';
export type * from './rows/auth-flows.ts';
export type * from './rows/auth-requests.ts';
export type * from './rows/connections.ts';
export type * from './rows/custom-providers.ts';
export type * from './rows/deployment-secrets.ts';
export type * from './rows/environment-logos.ts';
export type * from './rows/environment-tools.ts';
export type * from './rows/environments.ts';
export type * from './rows/events.ts';
export type * from './rows/execution-statistics.ts';
export type * from './rows/executions.ts';
export type { Hours } from './rows/hours.ts';
export type * from './rows/idempotency-keys.ts';
export type * from './rows/instances.ts';
export type * from './rows/job-queue.ts';
export type * from './rows/jobs.ts';
export type * from './rows/json-object.ts';
export type * from './rows/key-rotation.ts';
export type * from './rows/login-providers.ts';
export type * from './rows/mcp-configs.ts';
export type * from './rows/oauth-clients.ts';
export type * from './rows/oauth-grants.ts';
export type * from './rows/oauth-logins.ts';
export type * from './rows/operator-sessions.ts';
export type * from './rows/periodic-jobs.ts';
export type * from './rows/portal-sessions.ts';
export type * from './rows/refresh-leases.ts';
export type * from './rows/refresh-statistics.ts';
export type * from './rows/stored-contents.ts';
export type * from './rows/tool-overlays.ts';
export type * from './rows/webhooks.ts';
export type { Committed, Store, WriteOptions } from './store-port.ts';
