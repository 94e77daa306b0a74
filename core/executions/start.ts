import type {
  AccountRow,
  ConnectionRow,
  EnvironmentId,
  NewExecution,
  PlanVersions,
  Repositories,
} from '../../db/store.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { Instance } from '../instances/instance.ts';

/** The members that every plan of a call has. */
export interface Planned {
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  /** The tool and the hash of its definition; null for a tool of the catalogue, and for a call without a tool. */
  ownTool: { name: string; contentHash: string } | null;
  /**
   * The store's count of changes to the rows that calls are planned with (`Store.planChanges`), read before the plan
   * was made. null if the store cannot count these changes. Omitted for a plan that is made within the transaction.
   */
  asOf?: number | null;
}

/** The part of the record of a start that does not come from the plan. */
export interface StartRecord extends Omit<NewExecution, 'accountId' | 'connector' | 'instance'> {
  /**
   * This process. It must have registered the execution as running. If not, its next heartbeat (a periodic job) would
   * end the execution as UNKNOWN.
   */
  instance: Pick<Instance, 'number' | 'executions'>;
}

/**
 * Records the start of a call that was planned before the transaction, unless a row that the plan depends on has
 * changed since. The versions of these rows are compared within the transaction.
 *
 * @returns false if the plan is outdated; plan the call again within the transaction then
 */
export async function recordPlanned(
  tx: Repositories,
  environmentId: EnvironmentId,
  plan: Planned,
  record: StartRecord,
): Promise<boolean> {
  return tx.executions.insertPlanned(environmentId, rowOf(plan, record), versionsOf(plan));
}

/** Records the start of a call that was planned within the transaction. */
export async function recordStart(
  tx: Repositories,
  environmentId: EnvironmentId,
  plan: Planned,
  record: StartRecord,
): Promise<void> {
  await tx.executions.insert(environmentId, rowOf(plan, record));
}

function rowOf({ account }: Planned, { instance, ...record }: StartRecord): NewExecution {
  // The next heartbeat of this process would set the status of an unregistered execution to UNKNOWN.
  if (!instance.executions.has(record.id))
    throw new Error('the start of an execution was recorded without running it (RunningExecutions.during)');
  return { ...record, instance: instance.number, accountId: account.id, connector: account.connector };
}

function versionsOf({ account, connection, provider, ownTool, asOf }: Planned): PlanVersions {
  return {
    accountVersion: account.version,
    connectionId: connection.id,
    connectionVersion: connection.version,
    provider: provider.version === undefined ? null : provider.identifier,
    providerVersion: provider.version ?? null,
    ownTool: ownTool?.name ?? null,
    contentHash: ownTool?.contentHash ?? null,
    asOf,
  };
}
