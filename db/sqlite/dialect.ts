import type { Dialect } from '../dialect.ts';
import { asc, desc, sql } from '../drizzle.ts';
import { counters, executionBlocks } from '../schema.ts';
import { environmentRange } from '../sequence.ts';
import { accountsSearch } from './search-index.ts';

const ENVIRONMENT = sql.placeholder('environmentId');
const { block, firstStartedAt, lastStartedAt } = executionBlocks;
const OF_ENVIRONMENT = sql`${block} >= ${sql.placeholder('firstBlock')} and ${block} <= ${sql.placeholder('lastBlock')}`;

/** SQLite's dialect. Lists and patches are bound as JSON text. */
export const sqliteDialect: Dialect = {
  parameter: () => '?',
  // A unary plus turns a column into an expression, which cannot use an index. SQLite's planner has no statistics here.
  noIndex: sql.raw('+'),
  unlimited: -1,
  greatest: (a, b) => sql`max(${a}, ${b})`,
  least: (a, b) => sql`min(${a}, ${b})`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  isIn: (value, name) => sql`${value} in (select value from json_each(${sql.placeholder(name)}))`,
  list: (values) => JSON.stringify(values),
  jsonArrayOf: (value) => sql<string>`json_group_array(${value})`,
  // The text must equal the expression of the index environment_tools_description.
  hasTrimmedMember: (json, member, value) =>
    sql`trim(json_extract(${json}, ${path(member)}), char(9, 10, 13, 32)) = ${value}`,
  mergePatch: (json, patch) => sql`json_patch(${json}, ${patch})`,
  hasElement: (json, member, value) =>
    sql`exists (select 1 from json_each(${json}) where value ->> ${literal(member)} = ${value})`,
  hasElementWith: (json, listMember, value) =>
    sql`exists (select 1 from json_each(${json}) as element, json_each(element.value, ${path(listMember)}) as item where item.value = ${value})`,
  clock: (given) => sql<number>`${given}`,
  skipLocked: sql.raw(''),
  // A trigger of the table increases the counter.
  nextSeq: (table) => sql<number>`(select ${counters.lastSeq} + 1 from ${counters}
    where ${counters.environmentId} = ${ENVIRONMENT} and ${counters.name} = ${literal(table)})`,
  auditOrder: 'seq',
  blockOrder: 'block',
  blockEdges: {
    first: { where: sql`${OF_ENVIRONMENT} and ${lastStartedAt} >= ${sql.placeholder('from')}`, order: asc(block) },
    last: { where: sql`${OF_ENVIRONMENT} and ${firstStartedAt} < ${sql.placeholder('before')}`, order: desc(block) },
  },
  reusesSlots: true,
  search: {
    table: accountsSearch,
    seq: accountsSearch.rowid,
    matches: (name) =>
      sql`${accountsSearch} match ${sql.placeholder(name)} and ${environmentRange(accountsSearch.rowid).all}`,
    // A single phrase, in which no character is an operator.
    pattern: (folded) => `"${folded.replaceAll('"', '""')}"`,
  },
};

/** Returns a name as an SQL literal, unescaped: names come from this code and never from requests. */
function literal(name: string) {
  return sql.raw(`'${name}'`);
}

function path(member: string) {
  return sql.raw(`'$.${member}'`);
}
