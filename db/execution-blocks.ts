import { and, eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { environments, executionBlocks, executions } from './schema.ts';
import type { Statements } from './statements.ts';

/** A range of `seq` numbers; both ends are exclusive. */
export interface SeqRange {
  low: number;
  high: number;
}

export interface TimeRange {
  /** Milliseconds UTC; `from` is inclusive, `before` is exclusive. */
  from?: number | undefined;
  before?: number | undefined;
}

export interface ExecutionBlocks {
  /**
   * Returns a range of `seq` numbers that contains all executions of an environment that were started in a time range.
   */
  rangeOf(environmentId: EnvironmentId, times: TimeRange): Promise<SeqRange>;
  /**
   * Deletes the oldest executions that were started before a time, at most `limit`, from one block. @returns how many
   */
  removeOldest(environmentId: EnvironmentId, before: number, limit: number): Promise<number>;
}

/**
 * A block is a range of this many consecutive `seq` numbers. For each block, the table `execution_blocks` stores the
 * first and the last time at which an execution of the block started, or wider bounds. The trigger that stores these
 * times uses the same size.
 */
const SIZE = 1024;
/** How many `seq` numbers an environment has. The number of the environment is in bits 40 and above of a `seq`. */
const ENVIRONMENT_SIZE = 2 ** 40;

const { block, firstStartedAt } = executionBlocks;
const given = (name: string) => sql.placeholder(name);
const within = sql`${block} >= ${given('firstBlock')} and ${block} <= ${given('lastBlock')}`;
// The same expression as in the index `execution_blocks_first`, so that the database can use the index.
const ofEnvironment = sql`${block} >> 30 = ${given('ordinal')}`;
const givenBlock = sql`cast(${given('block')} as bigint)`;
const inBlock = sql`${executions.seq} >= ${givenBlock} * ${sql.raw(String(SIZE))}
  and ${executions.seq} < (${givenBlock} + 1) * ${sql.raw(String(SIZE))}`;

export function createExecutionBlocks({ db, once, dialect }: Statements): ExecutionBlocks {
  const ordinal = once(() =>
    db
      .select({ ordinal: environments.ordinal })
      .from(environments)
      .where(eq(environments.id, given('environmentId')))
      .prepare(),
  );
  const edge = (which: 'first' | 'last') =>
    once(() => {
      const { where, order } = dialect.blockEdges[which];
      return db.select({ block }).from(executionBlocks).where(where).orderBy(order).limit(1).prepare();
    });
  const first = edge('first');
  const last = edge('last');
  const oldest = once(() =>
    db
      .select({ block })
      .from(executionBlocks)
      .where(and(within, ofEnvironment, sql`${firstStartedAt} < ${given('before')}`))
      .orderBy(executionBlocks[dialect.blockOrder])
      .limit(1)
      .prepare(),
  );
  const remove = once(() => {
    const old = db
      .select({ seq: executions.seq })
      .from(executions)
      .where(and(inBlock, sql`${executions.startedAt} < ${given('before')}`))
      .orderBy(executions.seq)
      .limit(given('limit'));
    return db.delete(executions).where(sql`${executions.seq} in ${old}`).prepare();
  });
  const left = once(() =>
    db
      .select({ first: sql<number | null>`min(${executions.startedAt})` })
      .from(executions)
      .where(inBlock)
      .prepare(),
  );
  const shorten = once(() =>
    db
      .update(executionBlocks)
      .set({ firstStartedAt: sql`${given('first')}` })
      .where(eq(block, given('block')))
      .prepare(),
  );
  const drop = once(() =>
    db
      .delete(executionBlocks)
      .where(eq(block, given('block')))
      .prepare(),
  );

  async function blocksOf(environmentId: EnvironmentId) {
    const number = (await ordinal().get({ environmentId }))?.ordinal ?? 0;
    const low = number * ENVIRONMENT_SIZE;
    const high = low + ENVIRONMENT_SIZE;
    return { ordinal: number, low, high, firstBlock: low / SIZE, lastBlock: high / SIZE - 1 };
  }

  return {
    async rangeOf(environmentId, { from, before }) {
      const { low, high, firstBlock, lastBlock } = await blocksOf(environmentId);
      const bounds = { firstBlock, lastBlock };
      // If no block has executions since `from`, or none has executions before `before`, the range is empty.
      const range = { low, high };
      if (from !== undefined) {
        const block = (await first().get({ ...bounds, from }))?.block ?? bounds.lastBlock + 1;
        range.low = Math.max(low, block * SIZE - 1);
      }
      if (before !== undefined) {
        const block = (await last().get({ ...bounds, before }))?.block ?? bounds.firstBlock - 1;
        range.high = Math.min(high, (block + 1) * SIZE);
      }
      return range;
    },
    async removeOldest(environmentId, before, limit) {
      const { ordinal, firstBlock, lastBlock } = await blocksOf(environmentId);
      const found = await oldest().get({ ordinal, firstBlock, lastBlock, before });
      if (!found) return 0;
      const { changes } = await remove().run({ ...found, before, limit });
      const earliest = (await left().get(found))?.first ?? null;
      if (earliest === null) await drop().run(found);
      else await shorten().run({ ...found, first: earliest });
      return changes;
    },
  };
}
