import { POSTGRES } from '../../core/budgets.ts';
import { startTimer } from '../../core/scheduling/timers.ts';
import type { ReplicaState } from '../database-state.ts';
import { StorageError } from '../errors.ts';
import type { Page, PageRequest } from '../page.ts';
import { createRepositories, type ReadRepositories } from '../repositories.ts';
import type { SliceLimits } from '../slices.ts';
import { createAuditLanes } from './audit-lanes.ts';
import { createHosts } from './hosts.ts';
import { createReaders } from './readers.ts';
import { openHost } from './session.ts';
import { createPostgresStatements } from './statements.ts';

/**
 * A standby from which the lists of accounts, executions and audit records are read. Its data may be slightly older
 * than that of the primary.
 */
export interface Replica {
  /** Returns repositories whose lists are read from the replica, or from the primary while the replica cannot be used. */
  withLists(primary: ReadRepositories): ReadRepositories;
  /** Returns the result of the last check. */
  state(): ReplicaState;
  close(): Promise<void>;
}

interface ReplicaOptions {
  /** The maximum number of connections. */
  size: number;
  prepare: boolean;
  limits: SliceLimits;
  report: (error: unknown, what: string) => void;
}

/**
 * How far the standby is behind, in milliseconds; 0 if it has applied everything that it has received, or is a primary.
 */
const LAG = `select case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
  else coalesce((extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint, 0) end`;

/** Opens a replica, which need not be reachable yet. It is used while it can be reached and is not too far behind. */
export function openReplica(location: string, { size, prepare, limits, report }: ReplicaOptions): Replica {
  const readers = createReaders(
    createHosts(location, (address) => openHost(address, { mayBeStandby: true })),
    size,
  );
  let isUsable = false;
  let lagMs: number | null = null;
  let isReported = false;

  async function check(): Promise<void> {
    try {
      const { rows } = await readers.query({ text: LAG });
      lagMs = Number(rows[0]?.[0]);
      isUsable = lagMs <= POSTGRES.replicaLagMs;
      isReported = false;
    } catch (error) {
      unusable(error);
    }
  }

  function unusable(error: unknown): void {
    isUsable = false;
    lagMs = null;
    if (!isReported) report(error, 'the replica cannot be used, so lists are read from the primary');
    isReported = true;
  }

  const checking = startTimer(check, { everyMs: POSTGRES.replicaCheckMs, failed: unusable });
  void check();
  const statements = createPostgresStatements(readers.query, prepare);
  const { repositories: replica } = createRepositories(statements, {
    pacing: { limits, yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)) },
    auditHeads: (made) => createAuditLanes(made, { number: 0, heads: new Map() }),
  });

  /**
   * Returns a function that reads from the replica, or from the primary if the replica is unusable or its read fails.
   */
  function either<Args extends unknown[], T>(onReplica: (...args: Args) => Promise<T>, onPrimary: typeof onReplica) {
    return async (...args: Args): Promise<T> => {
      if (!isUsable) return await onPrimary(...args);
      try {
        return await onReplica(...args);
      } catch (error) {
        if (error instanceof StorageError) unusable(error);
        return await onPrimary(...args);
      }
    };
  }

  return {
    withLists: (primary) => ({
      ...primary,
      accounts: {
        ...primary.accounts,
        list: either(
          async (env, filters, request) => known(request, await replica.accounts.list(env, filters, request)),
          primary.accounts.list,
        ),
      },
      executions: {
        ...primary.executions,
        list: either(
          async (env, filters, request) => known(request, await replica.executions.list(env, filters, request)),
          primary.executions.list,
        ),
      },
      audit: {
        ...primary.audit,
        list: either(
          async (env, request, filters) => known(request, await replica.audit.list(env, request, filters)),
          primary.audit.list,
        ),
      },
    }),
    state: () => ({ isUsed: isUsable, lagMs }),
    async close() {
      await checking.stop();
      await readers.close();
    },
  };
}

/**
 * Returns the page of a list.
 *
 * @throws Error if a page after or before a cursor is empty: the replica may not have the row of the cursor yet, and
 * the list would end too early
 */
function known<Row>({ after, before }: PageRequest, page: Page<Row>): Page<Row> {
  const hasCursor = after !== undefined || before !== undefined;
  if (hasCursor && page.rows.length === 0) throw new Error('the replica may lack the row of the cursor');
  return page;
}
