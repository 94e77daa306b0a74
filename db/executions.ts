import { and, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createExecutionBlocks } from './execution-blocks.ts';
import { createExecutionTotals, createSuccesses, isCounted, type ToolSuccesses } from './execution-counts.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, mostSelective, placesOf } from './large-list.ts';
import type { Page, PageRequest } from './page.ts';
import { createPlanCheck } from './plan-check.ts';
import type {
  ExecutionFilters,
  ExecutionOutcome,
  ExecutionRow,
  NewExecution,
  PlanVersions,
} from './rows/executions.ts';
import { executions, instances } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface ExecutionReads {
  get(environmentId: EnvironmentId, id: string): Promise<ExecutionRow | undefined>;
  list(environmentId: EnvironmentId, filters: ExecutionFilters, page: PageRequest): Promise<Page<ExecutionRow>>;
  /**
   * Returns how many stored executions of each tool of a connection succeeded. It reads the maintained counters, not
   * the executions.
   */
  successes(environmentId: EnvironmentId, connector: string): Promise<ToolSuccesses[]>;
}

export interface ExecutionWrites {
  /** Records an execution as STARTED, before it is sent. */
  insert(environmentId: EnvironmentId, execution: NewExecution): Promise<void>;
  /**
   * Records an execution as STARTED, unless a row that the call was planned with has changed since. @returns whether it
   * was recorded
   */
  insertPlanned(environmentId: EnvironmentId, execution: NewExecution, planned: PlanVersions): Promise<boolean>;
  /** Ends an execution that is STARTED. @returns false if it had already ended or does not exist */
  finish(environmentId: EnvironmentId, id: string, outcome: ExecutionOutcome): Promise<boolean>;
  /** Ends as UNKNOWN the executions of instances that have stopped. @returns how many */
  markAbandoned(environmentId: EnvironmentId, finishedAt: number): Promise<number>;
  /** Deletes the oldest executions that were started before a time. @returns how many */
  sweep(environmentId: EnvironmentId, startedBefore: number, limit: number): Promise<number>;
}

export type ExecutionRepository = ExecutionReads & ExecutionWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
const oneExecution = and(eq(executions.id, sql.placeholder('id')), eq(executions.environmentId, ENVIRONMENT)) as SQL;
/** A literal instead of a parameter, so that the database can use the partial index of running executions. */
const underWay = sql`${executions.status} = 'STARTED'`;

const FILTERS: Record<keyof ExecutionFilters, Filter> = {
  agentRunId: (noIndex) => sql`${noIndex}${executions.agentRunId} = ${sql.placeholder('agentRunId')}`,
  accountId: (noIndex) => sql`${noIndex}${executions.accountId} = ${sql.placeholder('accountId')}`,
  toolName: (noIndex) => sql`${noIndex}${executions.toolName} = ${sql.placeholder('toolName')}`,
  connector: (noIndex) => sql`${noIndex}${executions.connector} = ${sql.placeholder('connector')}`,
  status: (noIndex) => sql`${noIndex}${executions.status} = ${sql.placeholder('status')}`,
  errorKind: () => sql`${executions.errorKind} = ${sql.placeholder('errorKind')}`,
  apiClientId: () => sql`${executions.apiClientId} = ${sql.placeholder('apiClientId')}`,
  startedFrom: () => sql`${executions.startedAt} >= ${sql.placeholder('startedFrom')}`,
  startedBefore: () => sql`${executions.startedAt} < ${sql.placeholder('startedBefore')}`,
};
/**
 * If the filter `accountId` is given, its index is used, unless a filter with a maintained total matches at most this
 * many executions. The total of `accountId` is not maintained, so the two filters cannot be compared.
 */
const FEW = 1000;

export function createExecutionRepository(
  statements: Statements,
  pacing: Pacing,
  planChanges: () => number | null,
): ExecutionRepository {
  const { db, once, dialect } = statements;
  const get = once(() => db.select().from(executions).where(oneExecution).prepare());
  const insert = once(() =>
    db
      .insert(executions)
      .values({
        seq: dialect.nextSeq('executions'),
        id: sql.placeholder('id'),
        environmentId: ENVIRONMENT,
        accountId: sql.placeholder('accountId'),
        connector: sql.placeholder('connector'),
        toolName: sql.placeholder('toolName'),
        agentRunId: sql.placeholder('agentRunId'),
        apiClientId: sql.placeholder('apiClientId'),
        instance: sql.placeholder('instance'),
        status: 'STARTED',
        startedAt: sql.placeholder('startedAt'),
      })
      .prepare(),
  );
  const isCurrent = createPlanCheck(statements);
  const finish = once(() =>
    db
      .update(executions)
      .set({
        status: sql`${sql.placeholder('status')}`,
        errorKind: sql`${sql.placeholder('errorKind')}`,
        upstreamStatus: sql`${sql.placeholder('upstreamStatus')}`,
        finishedAt: sql`${sql.placeholder('finishedAt')}`,
        steps: sql`${sql.placeholder('steps')}`,
      })
      .where(and(oneExecution, underWay))
      .prepare(),
  );
  const markAbandoned = once(() =>
    db
      .update(executions)
      .set({ status: 'UNKNOWN', finishedAt: sql`${sql.placeholder('finishedAt')}` })
      .where(
        and(
          eq(executions.environmentId, ENVIRONMENT),
          underWay,
          sql`${executions.instance} not in (select ${instances.number} from ${instances})`,
        ),
      )
      .prepare(),
  );
  const place = once(() => db.select({ seq: executions.seq }).from(executions).where(oneExecution).prepare());
  const totals = createExecutionTotals(statements);
  const successes = createSuccesses(statements);
  const blocks = createExecutionBlocks(statements);
  const low = sql`${executions.seq} > ${sql.placeholder('low')}`;
  const high = sql`${executions.seq} < ${sql.placeholder('high')}`;
  const list = createKeysetList<ExecutionRow, keyof ExecutionFilters>(statements, {
    order: executions.seq,
    scope: { all: and(low, high) as SQL, older: low, newer: high, between: undefined },
    filters: FILTERS,
    select: (where, order) =>
      db
        .select()
        .from(executions)
        .where(and(where, eq(executions.environmentId, ENVIRONMENT)))
        .orderBy(order)
        .limit(sql.placeholder('limit'))
        .prepare(),
    count: (where) => countUpTo(db, executions, where),
    keptTotal: totals,
    placeOf: (row) => row.seq,
    placeOfCursor: async (environmentId, id) => (await place().get({ environmentId, id }))?.seq,
    large: {
      lead: leadingFilter,
      places: (where, order) => placesOf(db, executions, executions.seq, where, order),
      pacing,
    },
  });

  /**
   * Returns the filter whose index is used. An agent run has few executions, so its filter comes first. Among the
   * filters with a maintained total, the one with the fewest rows is used. If `accountId` is given, it has precedence
   * over that filter, unless that filter has at most `FEW` rows.
   */
  async function leadingFilter(names: (keyof ExecutionFilters)[], values: Record<string, unknown>) {
    if (names.includes('agentRunId')) return 'agentRunId';
    const rarest = await mostSelective(names.filter(isCounted), async (name) => (await totals([name], values)) ?? 0);
    if (names.includes('accountId') && !(rarest && rarest.total <= FEW)) return 'accountId';
    return rarest?.name;
  }

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    successes,
    async list(environmentId, filters, page) {
      const { startedFrom: from, startedBefore: before } = filters;
      const values = { ...(await blocks.rangeOf(environmentId, { from, before })) };
      return await list.page(environmentId, filters, page, { values });
    },
    async insert(environmentId, execution) {
      await insert().run({ ...execution, environmentId });
    },
    async insertPlanned(environmentId, execution, planned) {
      const { asOf = null } = planned;
      const isUnchanged = asOf !== null && asOf === planChanges();
      if (!isUnchanged && !(await isCurrent(environmentId, execution.accountId, planned))) return false;
      await insert().run({ ...execution, environmentId });
      return true;
    },
    async finish(environmentId, id, { status, errorKind = null, upstreamStatus = null, finishedAt, steps = null }) {
      const values = { environmentId, id, status, errorKind, upstreamStatus, finishedAt, steps };
      return (await finish().run(values)).changes === 1;
    },
    async markAbandoned(environmentId, finishedAt) {
      return (await markAbandoned().run({ environmentId, finishedAt })).changes;
    },
    sweep: blocks.removeOldest,
  };
}
