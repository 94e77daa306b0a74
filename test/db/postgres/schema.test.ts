import { expect } from 'chai';
import { getTableConfig, is, Table } from '../../../db/drizzle.ts';
import { accountsSearch } from '../../../db/postgres/dialect.ts';
import * as schema from '../../../db/schema.ts';
import { createDatabase, dropDatabase, isAvailable, runIn } from '../../support/postgres/databases.ts';

/** Columns that exist only in the schema of the queries, or only in this engine. */
const DIFFERENT: Record<string, string> = {
  'counters.last_seq': 'sequences number the rows',
  'audit_heads.lane': 'a chain for each connection; it follows from seq',
  'audit_archives.lane': 'a chain for each connection; it follows from seq',
};
/** Each sum can be spread over any number of rows, so no columns of these tables are unique. */
const SUMS = [
  'account_counts',
  'counters',
  'execution_blocks',
  'execution_counts',
  'idempotency_bytes',
  'execution_statistics',
  'refresh_statistics',
];
const TYPES: Record<string, string> = { integer: 'bigint', blob: 'bytea', text: 'text' };

describe('the schema of the queries on PostgreSQL', () => {
  if (!isAvailable()) return;
  let name: string;
  const declared = Object.values({ ...schema, accountsSearch })
    .filter((value) => is(value, Table))
    .map((table) => getTableConfig(table));
  const lines = (sql: string) => runIn(name, sql).split('\n').filter(Boolean);

  before(() => {
    name = createDatabase();
  });

  after(() => dropDatabase(name));

  it('names every table of the database, and no other', () => {
    const real = lines("select table_name from information_schema.tables where table_schema = 'public'");
    expect(real.sort()).to.deep.equal([...declared.map((table) => table.name), 'crowded_units', 'server_lives'].sort());
  });

  it('agrees with every column', () => {
    const real = lines(
      `select table_name || '.' || column_name || ' ' || data_type ||
         case when is_nullable = 'NO' or table_name = 'counters' then ' not null' else '' end
       from information_schema.columns where table_schema = 'public' and table_name not in ('crowded_units', 'server_lives')`,
    );
    const expected = declared.flatMap(({ name: table, columns }) =>
      columns.map((column) => {
        const type = TYPES[column.getSQLType().toLowerCase()];
        return `${table}.${column.name} ${type}${column.notNull ? ' not null' : ''}`;
      }),
    );
    const same = (line: string) => !Object.hasOwn(DIFFERENT, line.split(' ')[0] as string);
    expect(real.filter(same).sort()).to.deep.equal(expected.filter(same).sort());
  });

  it('has each index, and unique ones are unique', () => {
    const real = lines(
      `select c.relname || ' ' || i.indisunique from pg_index i join pg_class c on c.oid = i.indexrelid
       join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public'`,
    );
    const expected = declared.flatMap(({ indexes }) =>
      indexes.map(({ config }) => `${config.name} ${config.unique ? 'true' : 'false'}`),
    );
    expect(real).to.include.members(expected);
  });

  it('has each primary key', () => {
    const real = lines(
      `select c.conrelid::regclass || ' ' || string_agg(a.attname, ',' order by k.place)
       from pg_constraint c, unnest(c.conkey) with ordinality as k (attnum, place), pg_attribute a
       where c.contype = 'p' and c.connamespace = 'public'::regnamespace and a.attrelid = c.conrelid and a.attnum = k.attnum group by c.oid, c.conrelid`,
    );
    const expected = declared
      .filter((table) => !SUMS.includes(table.name))
      .map(({ name: table, columns, primaryKeys }) => {
        const key = primaryKeys[0]?.columns ?? columns.filter((column) => column.primary);
        const isOfLanes = table === 'audit_heads' || table === 'audit_archives';
        return `${table} ${isOfLanes ? 'environment_id,lane' : key.map((column) => column.name).join()}`;
      });
    expect(real.sort()).to.deep.equal([...expected, 'server_lives one'].sort());
  });

  it('compares all texts by their bytes', () => {
    const loose = lines(
      `select table_name || '.' || column_name from information_schema.columns
       where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'
         and table_name <> 'counters'`,
    );
    expect(loose).to.deep.equal([]);
  });
});
