import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { Plan } from '../../../db/plan.ts';
import { createAuditLanes } from '../../../db/postgres/audit-lanes.ts';
import { postgresDialect } from '../../../db/postgres/dialect.ts';
import { openSession } from '../../../db/postgres/session.ts';
import { createRepositories } from '../../../db/repositories.ts';
import { sqliteDialect } from '../../../db/sqlite/dialect.ts';
import { loadMigrations, migrate } from '../../../db/sqlite/migrate.ts';
import { createStatements, type Statement, type Statements } from '../../../db/statements.ts';
import { createDatabase, dropDatabase, isAvailable, urlOf } from '../../support/postgres/databases.ts';

/** Repositories whose statements are recorded and not executed. */
function record(dialect: Statements['dialect'], lanes: boolean) {
  const plans: Plan[] = [];
  const nothing: Statement = {
    run: async () => ({ changes: 0 }),
    get: async () => undefined,
    all: async () => [],
  };
  const statements = createStatements({
    dialect,
    prepare(plan) {
      plans.push(plan);
      return nothing;
    },
  });
  const preparing: (() => unknown)[] = [];
  const eager: Statements = {
    ...statements,
    once(prepare) {
      const get = statements.once(prepare);
      preparing.push(get);
      return get;
    },
  };
  const { repositories } = createRepositories(
    eager,
    lanes ? { auditHeads: (made) => createAuditLanes(made, { number: 0, heads: new Map() }) } : {},
  );
  for (const prepare of preparing) prepare();
  return { plans, repositories };
}

/** Small tables that metrics and the runner of periodic jobs read completely. */
const READ_OUTSIDE_OF_UNITS = ['account_counts', 'periodic_jobs'];

describe('the statements of all repositories', function () {
  if (!isAvailable()) return;
  this.timeout(60_000);
  let name: string;
  const sqlite = new Database(':memory:');

  before(() => {
    name = createDatabase();
    migrate(sqlite, () => 0, loadMigrations());
  });

  after(() => {
    sqlite.close();
    dropDatabase(name);
  });

  it('are accepted by both engines, if they do not depend on filters', async () => {
    const onSqlite = record(sqliteDialect, false).plans;
    const session = await openSession(urlOf(name));
    const refused: string[] = [];
    try {
      for (const { text } of record(postgresDialect, true).plans) {
        const problem = await session.query({ text: `prepare judged as ${text}` }).then(
          () => session.query({ text: 'deallocate judged' }).then(() => null),
          (error: Error) => error.message,
        );
        if (problem) refused.push(`${problem}: ${text}`);
      }
    } finally {
      await session.close();
    }
    for (const { text } of onSqlite) {
      try {
        sqlite.prepare(text);
      } catch (error) {
        refused.push(`${(error as Error).message}: ${text}`);
      }
    }
    expect(refused).to.deep.equal([]);
    expect(onSqlite.length).to.be.above(140);
  });

  it('that search accounts have no range of rows besides the index with the environment', () => {
    const texts = record(postgresDialect, true).plans.map(({ text }) => text);
    const searches = texts.filter((text) => text.includes('from "accounts_search"'));
    expect(searches).to.have.length.above(0);
    for (const text of searches)
      expect(text)
        .to.match(/"environment_id" = /)
        .and.not.match(/"seq" [<>]/);
  });

  it('of units have no scan of a table, whose cost would make PostgreSQL compile them', async () => {
    const session = await openSession(urlOf(name));
    const compiled: string[] = [];
    try {
      // As units do, and for plans that do not depend on values.
      await session.query({ text: 'set enable_seqscan = off; set plan_cache_mode = force_generic_plan' });
      for (const { text } of record(postgresDialect, true).plans) {
        const values = Array.from(new Set(text.match(/\$\d+/g)), () => 'null').join();
        await session.query({ text: `prepare judged as ${text}` });
        const run = `explain (format json) execute judged${values && `(${values})`}`;
        const { rows } = await session.query({ text: run });
        const [{ Plan: plan }] = JSON.parse(String(rows[0]?.[0])) as [{ Plan: { 'Total Cost': number } }];
        if (plan['Total Cost'] > 1e9) compiled.push(text);
        await session.query({ text: 'deallocate judged' });
      }
    } finally {
      await session.close();
    }
    expect(compiled.map((text) => /from "(\w+)"/.exec(text)?.[1])).to.deep.equal(READ_OUTSIDE_OF_UNITS);
  });

  it('that find executions to be deleted read an index of times, and not the blocks of newer ones', async () => {
    const session = await openSession(urlOf(name));
    try {
      const day = 86_400_000;
      await session.query({
        text: `insert into execution_blocks select (1::bigint << 30) + number, ${day} + number, ${day} + number from generate_series(1, 20000) as number`,
      });
      await session.query({ text: 'analyze execution_blocks' });
      await session.query({ text: 'set plan_cache_mode = force_generic_plan' });
      const found = record(postgresDialect, true).plans.filter(({ text }) =>
        /from "execution_blocks".*limit/s.test(text),
      );
      expect(found).to.have.length(1);
      const [{ text, bind }] = found as [Plan];
      await session.query({ text: `prepare judged as ${text}` });
      const values = bind({ firstBlock: 2 ** 30, lastBlock: 2 ** 31, ordinal: 1, before: day });
      const { rows } = await session.query({ text: `explain (analyze, format json) execute judged(${values.join()})` });
      const plan = String(rows[0]?.[0]);
      expect(plan).to.include('"execution_blocks_first"').and.not.include('"Sort"');
      expect(plan).to.not.match(/"Rows Removed by Filter": [1-9]/);
    } finally {
      await session.close();
    }
  });
});
