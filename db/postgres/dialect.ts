import type { Dialect } from '../dialect.ts';
import { integer, sql, table, text } from '../drizzle.ts';

import { environments } from '../schema.ts';
import { blockEdges } from './block-edges.ts';

const ENVIRONMENT = sql.placeholder('environmentId');

/** The identifiers of accounts, normalized for searching. Triggers of `accounts` keep the table up to date. */
export const accountsSearch = table('accounts_search', {
  seq: integer().primaryKey().notNull(),
  environmentId: text('environment_id').notNull(),
  searchText: text('search_text').notNull(),
});

/** Lists are passed as arrays, and patches as JSON text. */
export const postgresDialect: Dialect = {
  parameter: (place) => `$${place + 1}`,
  // The planner uses statistics, so it needs no hints.
  noIndex: sql.raw(''),
  unlimited: null,
  greatest: (a, b) => sql`greatest(${a}, ${b})`,
  least: (a, b) => sql`least(${a}, ${b})`,
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  isIn: (value, name) => sql`${value} = any(${sql.placeholder(name)})`,
  list: (values) => [...values],
  jsonArrayOf: (value) => sql<string>`coalesce(json_agg(${value} order by ${value}), '[]')::text`,
  // Compares the hash, so that the index environment_tools_description is used.
  hasTrimmedMember: (json, member, value) => {
    const found = sql`trimmed_member(${json}, ${literal(member)})`;
    return sql`(md5(${found}) = md5(${value}) and ${found} = ${value})`;
  },
  mergePatch: (json, patch) => sql`merge_patch(${json}::json, ${patch}::json)::text`,
  hasElement: (json, member, value) =>
    sql`exists (select 1 from json_array_elements(${json}::json) as element where element ->> ${literal(member)} = ${value})`,
  hasElementWith: (json, listMember, value) =>
    sql`exists (select 1 from json_array_elements(${json}::json) as element,
      json_array_elements_text(case json_typeof(element -> ${literal(listMember)})
        when 'array' then element -> ${literal(listMember)} else '[]' end) as item where item = ${value})`,
  clock: () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  skipLocked: sql.raw('for update skip locked'),
  nextSeq: (table) => sql<number>`(select ${environments.ordinal} << 40 from ${environments}
    where ${environments.id} = ${ENVIRONMENT}) + nextval(${literal(`${table}_seq`)})`,
  auditOrder: 'id',
  blockOrder: 'firstStartedAt',
  blockEdges,
  reusesSlots: false,
  search: {
    table: accountsSearch,
    seq: accountsSearch.seq,
    // The index contains the environment, so no range of `seq` is needed. If there were one, the planner would choose
    // to read the whole range.
    matches: (name) =>
      sql`${accountsSearch.environmentId} = ${ENVIRONMENT} and ${accountsSearch.searchText} like ${sql.placeholder(name)}`,
    pattern: (folded) => `%${folded.replaceAll(/[\\%_]/g, '\\$&')}%`,
  },
};

/** Returns a name as an SQL literal, unescaped: names come from this code and never from requests. */
function literal(name: string) {
  return sql.raw(`'${name}'`);
}
