import { expect } from 'chai';
import { type Migration, migrationOf } from '../../../db/migrations.ts';
import { loadMigrations } from '../../../db/postgres/load-migrations.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { requireSchema } from '../../../db/postgres/schema.ts';
import { openSession, type Session } from '../../../db/postgres/session.ts';
import { until } from '../../support/manual-timer.ts';
import { createDatabase, dropDatabase, isAvailable, runIn, urlOf } from '../../support/postgres/databases.ts';

const OWN = loadMigrations();
const NEWEST = String(OWN.length).padStart(4, '0');
/**
 * Program N has the repository's migrations. N + 1 adds a column in the expand phase and drops it in the contract
 * phase.
 */
const EXPAND = migrationOf(
  '9001_expand.sql',
  `-- readable-from: ${NEWEST}\nalter table accounts add column note text;`,
);
const CONTRACT = migrationOf(
  '9002_contract.sql',
  '-- contract\n-- readable-from: 9001\nalter table accounts drop column note;',
);
const NEXT = [...OWN, EXPAND, CONTRACT];

describe('migrations of a server', () => {
  if (!isAvailable()) return;
  let name: string;
  let session: Session;

  beforeEach(async () => {
    name = createDatabase();
    session = await openSession(urlOf(name));
  });
  afterEach(async () => {
    await session.close();
    dropDatabase(name);
  });

  const run = (files: Migration[], options = {}) => migrate(urlOf(name), () => 1, options, files);
  const register = (schemaNumber: number) =>
    runIn(
      name,
      `insert into instances (id, version, started_at, beat_at, schema_number)
       values ('inst_${schemaNumber}', '0.1.0', 0, (extract(epoch from clock_timestamp()) * 1000)::bigint, ${schemaNumber})`,
    );
  const check = (files: Migration[]) =>
    requireSchema(session.query, files).then(
      () => 'starts',
      (error) => error.code,
    );

  it('let programs N and N + 1 start between the two phases, and only N + 1 after them', async () => {
    expect([await check(OWN), await check(NEXT)]).to.deep.equal(['starts', 'SCHEMA_OLD']);
    expect(await run(NEXT, { until: 'expand' })).to.deep.equal(['9001_expand.sql']);
    expect([await check(OWN), await check(NEXT)]).to.deep.equal(['starts', 'starts']);
    expect(await run(NEXT, { until: 'expand' })).to.deep.equal([]);
    expect(await run(NEXT)).to.deep.equal(['9002_contract.sql']);
    expect([await check(OWN), await check(NEXT)]).to.deep.equal(['MIGRATION_REFUSED', 'starts']);
  });

  it('let no older program start after a migration that does not declare the version that can read it', async () => {
    await run([...OWN, migrationOf('9001_silent.sql', 'select 1;')]);
    expect(await check(OWN)).to.equal('MIGRATION_REFUSED');
  });

  it('refuse the contract phase while a server of the previous version runs', async () => {
    register(OWN.length);
    const refused = await run(NEXT).catch((error) => error);
    expect(refused).to.include({ code: 'SCHEMA_IN_USE' });
    expect(refused.message).to.include('a server of version 0.1.0 is running');
    expect(runIn(name, 'select max(name) from migrations').trim()).to.equal('9001_expand.sql');
    runIn(name, 'update instances set beat_at = beat_at - 20000');
    expect(await run(NEXT), 'a server that has ended').to.deep.equal(['9002_contract.sql']);
    register(9002);
    expect(
      await run([...NEXT, migrationOf('9003_more.sql', '-- contract\n-- readable-from: 9002\nselect 1;')]),
    ).to.have.length(1);
  });

  it('yield to transactions that hold a lock, and retry', async () => {
    await session.query({ text: 'begin; lock table accounts in row exclusive mode' });
    const reports: string[] = [];
    const report = (message: string) => {
      reports.push(message);
      void session.query({ text: 'rollback' });
    };
    expect(await run([...OWN, EXPAND], { report })).to.deep.equal(['9001_expand.sql']);
    expect(reports).to.have.length(1);
    expect(reports[0]).to.include('waited too long for a lock');
  });

  it('continue after a migration that failed, of which nothing was applied', async () => {
    const broken = migrationOf('9002_broken.sql', 'create table half (id text); select 1 / 0;');
    expect(await run([...OWN, EXPAND, broken]).catch((error) => error.code)).to.equal('MIGRATION_FAILED');
    expect(runIn(name, "select to_regclass('half') is null").trim()).to.equal('t');
    expect(await run([...OWN, EXPAND, migrationOf('9002_mended.sql', 'create table half (id text);')])).to.deep.equal([
      '9002_mended.sql',
    ]);
  });

  it('build an index without blocking writes, and repair one whose creation was interrupted', async () => {
    const text = `-- no transaction\n-- readable-from: ${NEWEST}
drop index concurrently if exists accounts_version;
create unique index concurrently accounts_version on environments (kind);`;
    runIn(
      name,
      `insert into environments values ('env_1', 1, 'DEVELOPMENT', 'b', '{}', 0), ('env_2', 2, 'DEVELOPMENT', 'b', '{}', 0)`,
    );
    const files = [...OWN, migrationOf('9001_index.sql', text)];
    const valid = () =>
      runIn(name, "select indisvalid from pg_index where indexrelid = 'accounts_version'::regclass").trim();
    expect(await run(files).catch((error) => error.code)).to.equal('MIGRATION_FAILED');
    expect(valid(), 'left by the failed attempt').to.equal('f');
    runIn(name, "delete from environments where id = 'env_2'");
    expect(await run(files)).to.deep.equal(['9001_index.sql']);
    expect(valid()).to.equal('t');
    expect(await check(OWN)).to.equal('starts');
  });

  it('end when two processes run concurrently, also while one of them builds an index', async () => {
    const text = `-- no transaction\n-- readable-from: ${NEWEST}\ncreate index concurrently accounts_note on environments (kind);`;
    const files = [...OWN, migrationOf('9001_index.sql', text)];
    await session.query({ text: 'begin; lock table environments in row exclusive mode' });
    const first = run(files);
    const seen = (query: string) => Number(runIn(name, query).trim()) > 0;
    await until(() =>
      seen("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%accounts_note%'"),
    );
    let isWaiting = false;
    const report = () => {
      isWaiting = true;
    };
    const second = run(files, { report });
    await until(() => isWaiting || seen("select count(*) from pg_locks where locktype = 'advisory' and not granted"));
    await session.query({ text: 'rollback' });
    expect((await Promise.all([first, second])).flat()).to.deep.equal(['9001_index.sql']);
  });

  it('apply each migration once when two processes run concurrently', async () => {
    const both = await Promise.all([run(NEXT), run(NEXT)]);
    expect(both.flat().sort()).to.deep.equal(['9001_expand.sql', '9002_contract.sql']);
  });
});
