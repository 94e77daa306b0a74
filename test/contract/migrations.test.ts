import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addMigrations, migrationProblems } from '../../scripts/check-migrations.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('the gate for migrations', () => {
  let folder: ReturnType<typeof tempDir>;
  const write = (name: string, sql: string) => writeFileSync(join(folder.path, name), sql);

  beforeEach(() => {
    folder = tempDir();
    write('0001_one.sql', 'create table one (id text) strict;\n');
    write('0002_two.sql', 'create table two (id text) strict;\n');
    expect(addMigrations(folder.path)).to.deep.equal(['0001_one.sql', '0002_two.sql']);
  });
  afterEach(() => folder.remove());

  it('accepts migrations as recorded', () => {
    expect(migrationProblems(folder.path)).to.deep.equal([]);
  });

  it('rejects a changed migration, also if its new digest is recorded', () => {
    write('0001_one.sql', 'create table one (id integer) strict;\n');
    expect(addMigrations(folder.path)).to.deep.equal([]);
    expect(migrationProblems(folder.path)).to.deep.equal([
      '0001_one.sql differs from its digest in SHA256SUMS: migrations never change. Restore it, and add a new file',
    ]);
  });

  it('rejects a removed or renamed migration', () => {
    rmSync(join(folder.path, '0001_one.sql'));
    expect(migrationProblems(folder.path)[0]).to.match(/^0001_one\.sql is missing/);
    renameSync(join(folder.path, '0002_two.sql'), join(folder.path, '0003_two.sql'));
    expect(migrationProblems(folder.path)[1]).to.match(/^0002_two\.sql is missing/);
  });

  it('accepts a new migration when its digest is recorded', () => {
    write('0003_three.sql', 'create table three (id text) strict;\n');
    expect(migrationProblems(folder.path)[0]).to.match(/^0003_three\.sql has no digest .* --add$/);
    expect(addMigrations(folder.path)).to.deep.equal(['0003_three.sql']);
    expect(migrationProblems(folder.path)).to.deep.equal([]);
  });

  it('rejects a new migration that sorts before a recorded one', () => {
    write('0001_more.sql', 'create table more (id text) strict;\n');
    expect(migrationProblems(folder.path)[0]).to.match(/^0001_more\.sql sorts before 0002_two\.sql/);
  });
});
