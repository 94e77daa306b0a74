import type {
  AccountRow,
  ConnectionRow,
  EnvironmentId,
  NewExecution,
  PlanVersions,
  Repositories,
} from '../../db/store.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';

/** What every plan of a call has in common. */
export interface Planned {
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  /** The tool, if the environment brought it. */
  ownTool: { name: string; contentHash: string } | null;
}

/** The part of a record that does not come from the plan. */
export type StartRecord = Omit<NewExecution, 'accountId' | 'connector'>;

/**
 * Records the start of a call that was planned before the transaction, unless something that the plan depends on has changed since:
 * the versions of the rows are compared within the transaction.
 *
 * @returns false if the plan is outdated; plan the call again within the transaction then
 */
export async function recordPlanned(
  tx: Repositories,
  environmentId: EnvironmentId,
  plan: Planned,
  record: StartRecord,
): Promise<boolean> {
  return tx.executions.insertPlanned(environmentId, { ...record, ...accountContextOf(plan) }, versionsOf(plan));
}

/** Records the start of a call that was planned within the transaction. */
export async function recordStart(
  tx: Repositories,
  environmentId: EnvironmentId,
  plan: Planned,
  record: StartRecord,
): Promise<void> {
  await tx.executions.insert(environmentId, { ...record, ...accountContextOf(plan) });
}

function accountContextOf({ account }: Planned): Pick<NewExecution, 'accountId' | 'connector'> {
  return { accountId: account.id, connector: account.connector };
}

function versionsOf({ account, connection, provider, ownTool }: Planned): PlanVersions {
  return {
    accountVersion: account.version,
    connectionId: connection.id,
    connectionVersion: connection.version,
    provider: provider.version === undefined ? null : provider.identifier,
    providerVersion: provider.version ?? null,
    ownTool: ownTool?.name ?? null,
    contentHash: ownTool?.contentHash ?? null,
  };
}
