import type { Dialect } from '../dialect.ts';
import { type SQL, type SQLWrapper, sql } from '../drizzle.ts';
import { executionBlocks } from '../schema.ts';

const { block, firstStartedAt, lastStartedAt } = executionBlocks;
const given = (name: string) => sql.placeholder(name);
const BEGINNING_OF_TIME = sql.raw('-1e18');
const END_OF_TIME = sql.raw('1e18');

/** The same expression as in the indexes of the table, so that the database can use them. */
function point(block: SQLWrapper, time: SQLWrapper): SQL {
  return sql`point(${block} * 1e13::float8, ${time})`;
}

/**
 * Blocks (ranges of consecutive executions) are indexed as points (block, time). Among the points in a box of blocks
 * and times, the index finds the one that is nearest to the first or the last block.
 */
export const blockEdges: Dialect['blockEdges'] = {
  first: {
    where: sql`${point(block, lastStartedAt)} <@ box(${point(given('firstBlock'), given('from'))}, ${point(given('lastBlock'), END_OF_TIME)})`,
    order: sql`${point(block, lastStartedAt)} <-> ${point(given('firstBlock'), given('from'))}`,
  },
  last: {
    where: sql`${point(block, firstStartedAt)} <@ box(${point(given('firstBlock'), BEGINNING_OF_TIME)}, ${point(given('lastBlock'), sql`${given('before')}::float8 - 1`)})`,
    order: sql`${point(block, firstStartedAt)} <-> ${point(given('lastBlock'), given('before'))}`,
  },
};
