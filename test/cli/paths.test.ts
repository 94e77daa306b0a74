import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../http/config/config.ts';
import { ConfigError } from '../../http/config/config-error.ts';
import { readPaths } from '../../http/config/paths.ts';
import { runCommand } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const LONG = 'x'.repeat(300);

describe('settings that name a file', () => {
  let folder: ReturnType<typeof tempDir>;
  let at: (...names: string[]) => string;

  before(() => {
    folder = tempDir();
    at = (...names) => join(folder.path, ...names);
    writeFileSync(at('file'), 'text', { mode: 0o600 });
    mkdirSync(at('directory'));
    symlinkSync(at('loop'), at('loop'));
    symlinkSync(at('file'), at('link'));
  });
  after(() => folder.remove());

  it('may name a file, a link to one, and what does not exist yet', () => {
    const env = { DATA_DIR: at('new', 'deep'), DATABASE_URL: `file:${at('link')}`, VALETKEY_KEYS_FILE: at('file') };
    expect(readPaths(env)).to.deep.equal({
      dataDir: at('new', 'deep'),
      databaseFile: at('file'),
      keysFile: at('file'),
      namedBy: { database: 'DATABASE_URL', keys: 'VALETKEY_KEYS_FILE' },
    });
    expect(existsSync(at('new'))).to.equal(false);
  });

  for (const [setting, path, reason] of [
    ['DATA_DIR', () => '/dev/null', '/dev/null is not a directory'],
    ['DATA_DIR', () => at('file'), 'is not a directory'],
    ['DATA_DIR', () => at('file', 'below'), 'a part of the path is a file'],
    ['DATA_DIR', () => at('loop'), 'too many symbolic links'],
    ['DATA_DIR', () => at(LONG), 'the path is too long'],
    ['DATA_DIR', () => ' ', 'white space'],
    ['VALETKEY_KEYS_FILE', () => '/', '/ is a directory'],
    ['VALETKEY_KEYS_FILE', () => '/dev/null', '/dev/null is not a regular file'],
    ['VALETKEY_KEYS_FILE', () => '/dev/null/keys', 'a part of the path is a file'],
    ['VALETKEY_KEYS_FILE', () => at('directory'), 'is a directory'],
    ['VALETKEY_KEYS_FILE', () => at('loop', 'keys'), 'too many symbolic links'],
    ['VALETKEY_KEYS_FILE', () => 'y/'.repeat(3_000), 'the path is too long'],
    ['DATABASE_URL', () => '/', '/ is a directory'],
    ['DATABASE_URL', () => 'file:/dev/zero', '/dev/zero is not a regular file'],
    ['DATABASE_URL', () => at('file', 'below'), 'a part of the path is a file'],
    ['DATABASE_URL', () => at('loop'), 'too many symbolic links'],
    ['DATABASE_URL', () => `${at('new.db')} `, 'white space'],
    ['DATABASE_URL', () => ':memory:', 'must be postgres://…, or the path of a file'],
    ['DATABASE_URL', () => 'file::memory:', 'must be postgres://…, or the path of a file'],
  ] as const) {
    it(`does not accept ${setting} of a path where ${reason}`, () => {
      const read = () => readPaths({ DATA_DIR: at('data'), [setting]: path() });
      expect(read).to.throw(ConfigError).with.property('message').that.includes(reason).and.match(RegExp(setting));
    });
  }

  for (const [setting, value] of [
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', (path: string) => path],
    ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', (path: string) => path],
    ['DATABASE_URL', (path: string) => `postgres://u@h/d?sslrootcert=${encodeURIComponent(path)}&sslmode=verify-full`],
    ['DATABASE_REPLICA_URL', (path: string) => `postgres://u@h1,h2/d?sslkey=${path}`],
  ] as const) {
    it(`does not accept ${setting} with a certificate that cannot be read`, () => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example', DATABASE_URL: 'postgres://u@h/d' };
      const read = (path: string) => readConfig({ ...env, [setting]: value(path) });
      expect(() => read(at('file')), 'the control').not.to.throw();
      execFileSync('mkfifo', ['-m', '600', at(`${setting}-pipe`)]);
      for (const [path, reason] of [
        [at('missing'), 'does not exist'],
        [at('directory'), 'is a directory'],
        [at(`${setting}-pipe`), 'is not a regular file'],
      ] as const) {
        expect(() => read(path), reason).to.throw(ConfigError, `${setting}: ${path} ${reason}`);
      }
    });
  }

  it('does not wait for a pipe in place of a backup', async () => {
    execFileSync('mkfifo', ['-m', '600', at('backup-pipe')]);
    const { code, stderr } = await runCommand(['restore', at('backup-pipe')], { DATA_DIR: at('restored') });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `valetkey restore: the backup ${at('backup-pipe')} cannot be used: it is not a regular file\n`,
    );
  });

  // The system does not let even root create these paths.
  for (const [setting, path] of [
    ['DATA_DIR', '/proc/valetkey'],
    ['VALETKEY_KEYS_FILE', '/proc/valetkey/keys'],
    ['VALETKEY_KEYS_FILE', '/proc/valetkey-keys'],
    ['DATABASE_URL', '/proc/valetkey/deep/valetkey.db'],
  ] as const) {
    it(`names ${setting} when ${path} cannot be created, and ends`, async () => {
      const env = { DATA_DIR: at('data'), PORT: '0', METRICS_PORT: '0', [setting]: path };
      const { code, stderr } = await runCommand(['serve'], env);
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(RegExp(`^valetkey serve: ${setting}: E[A-Z]+: .*'/proc/valetkey`))
        .and.match(/^.*\n$/);
    });
  }

  it('names DATABASE_URL when the file is not a database, and leaves it as it is', async () => {
    const env = { DATA_DIR: at('other'), DATABASE_URL: at('file'), PORT: '0', METRICS_PORT: '0' };
    const { code, stderr } = await runCommand(['serve'], env);
    expect([code, stderr]).to.deep.equal([
      1,
      `valetkey serve: DATABASE_URL: the database ${at('file')} cannot be opened: file is not a database\n`,
    ]);
    expect(readdirSync(folder.path)).to.include('file').and.not.include('other');
  });
});
