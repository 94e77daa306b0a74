import { runIn } from './databases.ts';

type Row = Record<string, unknown>;

/**
 * Tables that tests do not compare: the search index, which the accounts determine; counts, which may be spread over
 * any number of rows; and data that the storage engine records about itself.
 */
const DERIVED = [
  'accounts_search',
  'crowded_units',
  'server_lives',
  'account_counts',
  'execution_counts',
  'idempotency_bytes',
  'execution_blocks',
  'execution_statistics',
  'refresh_statistics',
];

/** Reads rows as the driver of a database file returns them: bytes as buffers. */
export function selectFrom(database: string, statement: string, values: readonly unknown[] = []): Row[] {
  return parseRows(
    runIn(database, `select coalesce(json_agg(found), '[]') from (${bind(statement, values)}) as found`),
  );
}

/** Changes rows with triggers and foreign keys disabled. @returns the number of rows */
export function changeIn(database: string, statement: string, values: readonly unknown[]): number {
  if (/^drop trigger /.test(statement)) return 0;
  const changed = `with changed as (${bind(statement, values)} returning 1) select count(*) from changed`;
  return Number(runIn(database, `set session_replication_role = replica; ${changed}`));
}

/**
 * Reads all tables with one statement, because a process for each would keep the servers of a test waiting for seconds.
 */
export function dumpOf(database: string): Record<string, Row[]> {
  const names = tablesOf(database);
  const rows = names.map(
    (name) =>
      `select replace(coalesce(json_agg(found), '[]')::text, chr(10), '') from (select * from ${name} order by 1, 2) as found`,
  );
  const found = runIn(database, rows.join(' union all ')).trimEnd().split('\n');
  return Object.fromEntries(names.map((name, place) => [name, parseRows(found[place] as string)]));
}

const tables = new Map<string, string[]>();

function tablesOf(database: string): string[] {
  let names = tables.get(database);
  if (names === undefined) {
    const found = runIn(
      database,
      "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
    );
    names = found.split('\n').filter((name) => name !== '' && !DERIVED.includes(name));
    tables.set(database, names);
  }
  return names;
}

function parseRows(text: string): Row[] {
  return (JSON.parse(text) as Row[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toBytes(value)])),
  );
}

/** Replaces `?` by the values in their order, and `@name` by the members of an object. */
function bind(statement: string, values: readonly unknown[]): string {
  let place = 0;
  const [first] = values;
  if (typeof first === 'object' && first !== null && !Buffer.isBuffer(first))
    return statement.replaceAll(/@(\w+)/g, (_, name: string) => literal((first as Record<string, unknown>)[name]));
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
