import { openStore } from '../../../db/open-store.ts';
import { canPrepare, createDatabase, dropDatabase, runIn, urlOf } from '../../support/postgres/databases.ts';
import type { TestDatabase } from '../test-database.ts';

const NOW = 1_750_000_000_000;

/** Creates a database on the test server. */
export function createPostgresTestDatabase(): TestDatabase {
  const name = createDatabase();
  const run = (statements: string) => void runIn(name, statements);
  return {
    location: urlOf(name),
    // Only one unit runs at a time, so that rows have the order in which tests write them.
    open: ({ connections = { writers: 1 }, ...options } = {}) =>
      openStore({
        location: urlOf(name),
        now: () => NOW,
        connections: { prepare: canPrepare(), ...connections },
        ...options,
      }),
    run,
    tamperWithAudit: (statements) => run(`drop trigger if exists audit_log_final on audit_log; ${statements}`),
    dump: () => dump(name),
    checkSearchIndex: () => checkSearchIndex(name),
    remove: () => dropDatabase(name),
  };
}

function dump(name: string): Record<string, unknown[]> {
  const tables = runIn(
    name,
    "select table_name from information_schema.tables where table_schema = 'public' order by 1",
  );
  const names = tables
    .split('\n')
    .filter((table) => table !== '' && !['crowded_units', 'server_lives'].includes(table));
  const rows = (table: string) =>
    `'${table}', (select coalesce(json_agg(t order by t::text), '[]') from ${table} as t)`;
  return JSON.parse(runIn(name, `select json_build_object(${names.map(rows).join()})`));
}

function checkSearchIndex(name: string): void {
  const different = runIn(
    name,
    `select count(*) from (select seq, environment_id, search_text from accounts) as a
       full join accounts_search as s using (seq, environment_id, search_text) where a.seq is null or s.seq is null`,
  );
  if (different.trim() !== '0') throw new Error(`the search index differs by ${different.trim()} rows`);
}
