import Database from 'better-sqlite3';
import { expect } from 'chai';
import { getTableConfig, is, Table } from '../../../db/drizzle.ts';
import * as schema from '../../../db/schema.ts';
import { migrate } from '../../../db/sqlite/migrate.ts';
import * as searchIndex from '../../../db/sqlite/search-index.ts';
import { NOW } from '../support.ts';

interface ColumnInfo {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

describe('the schema of the queries', () => {
  const client = new Database(':memory:');
  migrate(client, () => NOW);
  const declared = Object.values({ ...schema, ...searchIndex }).filter((value) => is(value, Table));
  const byName = new Map(declared.map((table) => [getTableConfig(table).name, getTableConfig(table)]));
  const tables = client
    .prepare("select name, type, strict from pragma_table_list where schema = 'main' and name not like 'sqlite_%'")
    .all() as { name: string; type: string; strict: number }[];

  after(() => client.close());

  it('names every table of the database, and no other', () => {
    const real = tables.filter((table) => table.type !== 'shadow').map((table) => table.name);
    expect(real.sort()).to.deep.equal([...byName.keys()].sort());
  });

  it('has strict tables only', () => {
    const loose = tables.filter((table) => table.type === 'table' && table.strict === 0);
    expect(loose.map((table) => table.name)).to.deep.equal([]);
  });

  for (const [name, config] of byName) {
    if (name === 'accounts_search') continue;

    it(`agrees with the columns of ${name}`, () => {
      const real = client
        .prepare('select name, type, "notnull", pk from pragma_table_xinfo(?)')
        .all(name) as ColumnInfo[];
      const key = config.primaryKeys[0]?.columns.map((column) => column.name) ?? [];
      const expected = config.columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        notnull: Number(column.notNull),
        pk: column.primary ? 1 : key.indexOf(column.name) + 1,
      }));
      expect(real).to.have.deep.members(expected);
    });

    it(`agrees with the indexes of ${name}`, () => {
      const real = client
        .prepare(
          `select l.name, l."unique", group_concat(i.name) as columns
           from pragma_index_list(?) l, pragma_index_info(l.name) i where l.origin <> 'pk' group by l.name`,
        )
        .all(name) as { name: string; unique: number; columns: string }[];
      const indexes = config.indexes.map(({ config: { name, unique, columns } }) => ({
        unique: Number(unique),
        name,
        // Expressions have no name.
        columns: columns.flatMap((column) => (column as { name?: string }).name ?? []).join(),
      }));
      const uniqueColumns = config.columns
        .filter((column) => column.isUnique)
        .map((column) => ({ unique: 1, name: undefined, columns: column.name }));
      // A unique column has an index whose name SQLite chooses.
      const named = real.map((index) => ({
        ...index,
        name: index.name.startsWith('sqlite_') ? undefined : index.name,
      }));
      expect(named).to.have.deep.members([...indexes, ...uniqueColumns]);
    });
  }
});
