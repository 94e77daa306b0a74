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

const DAY = 20_000 * 86_400_000;

describe('the statements of all repositories', () => {
  if (!isAvailable()) return;
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
        const problem = await session.query({ text: `prepare examined as ${text}` }).then(
          () => session.query({ text: 'deallocate examined' }).then(() => null),
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
      // Uses the settings of units, and plans that do not depend on values.
      await session.query({ text: 'set enable_seqscan = off; set plan_cache_mode = force_generic_plan' });
      for (const { text } of record(postgresDialect, true).plans) {
        const values = Array.from(new Set(text.match(/\$\d+/g)), () => 'null').join();
        await session.query({ text: `prepare examined as ${text}` });
        const run = `explain (format json) execute examined${values && `(${values})`}`;
        const { rows } = await session.query({ text: run });
        const [{ Plan: plan }] = JSON.parse(String(rows[0]?.[0])) as [{ Plan: { 'Total Cost': number } }];
        // PostgreSQL 18 marks disabled scans. Older versions raise their cost instead.
        if (plan['Total Cost'] > 1e9 || JSON.stringify(plan).includes('"Disabled":true')) compiled.push(text);
        await session.query({ text: 'deallocate examined' });
      }
    } finally {
      await session.close();
    }
    expect(compiled.map((text) => /from "(\w+)"/.exec(text)?.[1])).to.deep.equal(READ_OUTSIDE_OF_UNITS);
  });

  /**
   * Returns the plan, as JSON, of the recorded statement whose text matches. Before, fills the table `execution_blocks`
   * (the times of the first and the last execution of each block of consecutive executions) with 20,000 blocks, one for
   * each millisecond.
   */
  async function planOf(pattern: RegExp, given: Record<string, number>): Promise<string> {
    const session = await openSession(urlOf(name));
    try {
      await session.query({ text: 'truncate execution_blocks' });
      await session.query({
        text: `insert into execution_blocks select (1::bigint << 30) + number, ${DAY} + number, ${DAY} + number from generate_series(1, 20000) as number`,
      });
      await session.query({ text: 'analyze execution_blocks' });
      await session.query({ text: 'set plan_cache_mode = force_generic_plan' });
      const found = record(postgresDialect, true).plans.filter(({ text }) => pattern.test(text));
      expect(found).to.have.length(1);
      const [{ text, bind }] = found as [Plan];
      await session.query({ text: `prepare examined as ${text}` });
      const values = bind({ firstBlock: 2 ** 30, lastBlock: 2 ** 31 - 1, ordinal: 1, ...given });
      const { rows } = await session.query({
        text: `explain (analyze, format json) execute examined(${values.join()})`,
      });
      return String(rows[0]?.[0]);
    } finally {
      await session.close();
    }
  }

  it('that find executions to be deleted read an index of times, and not the blocks of newer ones', async () => {
    const plan = await planOf(/from "execution_blocks".*>> 30.*limit/s, { before: DAY });
    expect(plan).to.include('"execution_blocks_first"').and.not.include('"Sort"');
    expect(plan).to.not.match(/"Rows Removed by Filter": [1-9]/);
  });

  it('that find the blocks of a range of time read one block, wherever it is', async () => {
    for (const time of [1, 10_000, 20_000]) {
      for (const plan of [
        await planOf(/last_started_at".* <@ /s, { from: DAY + time }),
        await planOf(/first_started_at".* <@ /s, { before: DAY + time + 1 }),
      ]) {
        expect(plan)
          .to.match(/"execution_blocks_(from|before)"/)
          .and.not.include('"Sort"');
        expect(plan).to.match(/"Actual Rows": 1(\.0+)?,/);
        expect(plan).to.not.match(/"Rows Removed by (Filter|Index Recheck)": [1-9]/);
      }
    }
  });

  it('that find the blocks of a range of time find the outermost ones, also where times go back', async () => {
    const session = await openSession(urlOf(name));
    try {
      await session.query({ text: 'truncate execution_blocks' });
      // Three environments with 2,000 blocks each. Times advance by 10 seconds per block, plus up to ten random hours.
      await session.query({ text: 'select setseed(0.42)' });
      await session.query({
        text: `insert into execution_blocks select block, time, time + (random() * 10000)::bigint from (
          select (environment << 30) + number as block, ${DAY} + number * 10000 + (random() * 36000000)::bigint as time
          from generate_series(900, 902::bigint) as environment, generate_series(0, 1999) as number) as rows`,
      });
      const bounds = { firstBlock: 901 * 2 ** 30, lastBlock: 902 * 2 ** 30 - 1 };
      const blocks = 'from execution_blocks where block >> 30 = 901';
      for (let time = DAY - 1; time < DAY + 60_000_000; time += 1_234_567)
        for (const [column, given, scan] of [
          ['last', { from: time }, `select min(block) ${blocks} and last_started_at >= ${time}`],
          ['first', { before: time }, `select max(block) ${blocks} and first_started_at < ${time}`],
        ] as const) {
          const pattern = new RegExp(`${column}_started_at".* <@ `, 's');
          const { text, bind } = record(postgresDialect, true).plans.find((plan) => pattern.test(plan.text)) as Plan;
          const found = await session.query({ text, values: bind({ ...bounds, ...given }) });
          const expected = await session.query({ text: scan });
          expect(found.rows[0]?.[0] ?? null, scan).to.equal(expected.rows[0]?.[0]);
        }
    } finally {
      await session.close();
    }
  });
});
