import { runIn } from './databases.ts';

type Row = Record<string, unknown>;

/**
 * Tables that tests do not compare: the accounts determine the search index, and a sum may be spread over any number of
 * rows.
 */
const DERIVED = [
  'accounts_search',
  'crowded_units',
  'account_counts',
  'execution_counts',
  'idempotency_bytes',
  'execution_blocks',
  'execution_statistics',
];

/** Reads rows as the driver of a database file returns them: bytes as buffers. */
export function selectFrom(database: string, statement: string, values: readonly unknown[] = []): Row[] {
  const rows = runIn(database, `select coalesce(json_agg(found), '[]') from (${bind(statement, values)}) as found`);
  return (JSON.parse(rows) as Row[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toBytes(value)])),
  );
}

/** Changes rows with triggers and foreign keys disabled. @returns the number of rows */
export function changeIn(database: string, statement: string, values: readonly unknown[]): number {
  const changed = `with changed as (${bind(statement, values)} returning 1) select count(*) from changed`;
  return Number(runIn(database, `set session_replication_role = replica; ${changed}`));
}

export function dumpOf(database: string): Record<string, Row[]> {
  const tables = runIn(
    database,
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
  );
  const names = tables.split('\n').filter((name) => name !== '' && !DERIVED.includes(name));
  return Object.fromEntries(names.map((name) => [name, selectFrom(database, `select * from ${name} order by 1, 2`)]));
}

function bind(statement: string, values: readonly unknown[]): string {
  let place = 0;
  return statement.replaceAll('?', () => literal(values[place++])).replace(/;\s*$/, '');
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return String(value);
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'::bytea`;
  return `'${String(value).replaceAll("'", "''")}'`;
}

function toBytes(value: unknown): unknown {
  return typeof value === 'string' && /^\\x([0-9a-f]{2})*$/.test(value) ? Buffer.from(value.slice(2), 'hex') : value;
}
