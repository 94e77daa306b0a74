import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const fakeVersion = (version: string) => `Object.defineProperty(process.versions, 'node', { value: '${version}' });
Object.defineProperty(process, 'version', { value: 'v${version}' });`;

describe('the command valetkey', () => {
  const folder = tempDir();

  after(() => folder.remove());

  it('prints every command without arguments, and with --help', async () => {
    for (const { code, stdout, stderr } of await Promise.all([runCommand([]), runCommand(['--help'])])) {
      expect([code, stderr]).to.deep.equal([0, '']);
      for (const usage of ['serve', 'keys ', 'environments ']) {
        expect(stdout).to.include(usage);
      }
    }
  });

  it('prints the help of one command without executing it', async () => {
    const { code, stdout, stderr } = await runCommand(['doctor', 'slack', '--help'], {
      DATA_DIR: join(folder.path, 'no'),
    });
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout)
      .to.match(/^Usage: valetkey doctor \[options\] <connector>/)
      .and.not.to.include('environments ');
  });

  it('rejects an unknown command', async () => {
    for (const name of ['fly', 'constructor', '__proto__']) {
      const { code, stdout, stderr } = await runCommand([name]);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.equal(`valetkey: unknown command '${name}'. See valetkey --help\n`);
    }
  });

  it('reports an error in one line, without a stack trace', async () => {
    const none = join(folder.path, 'none');
    const cases: [string[], Record<string, string>, string][] = [
      [['keys', 'list'], { DATA_DIR: none }, 'no database'],
      [['serve'], { DATA_DIR: none, PORT: 'http' }, 'PORT'],
      [['serve'], { DATA_DIR: none, PORT: '0', VALETKEY_EGRESS_ALLOW: 'x' }, 'VALETKEY_EGRESS_ALLOW'],
    ];
    const results = await Promise.all(cases.map(([args, env]) => runCommand(args, env)));
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      const [args = [], , message] = cases[index] ?? [];
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr.trim().split('\n'), stderr).to.have.length(1);
      expect(stderr)
        .to.match(new RegExp(`^valetkey ${args.join(' ')}: `))
        .and.to.include(message);
    }
  });

  it('does not load a second HTTP client for the server, which would take 14 MB of memory', async () => {
    const tell = `process.on('exit', () => console.error('loaded: '
      + process.moduleLoadList.includes('NativeModule internal/deps/undici/undici')));`;
    const env = { DATA_DIR: join(folder.path, 'none'), PORT: 'http' };
    const control = `${tell} process.getBuiltinModule('node:http').WebSocket;`;
    const loaded = await runCommand(['serve'], env, { before: control });
    expect(loaded.stderr).to.include('PORT').and.to.include('loaded: true');
    const { stderr } = await runCommand(['serve'], env, { before: tell });
    expect(stderr).to.include('PORT').and.to.include('loaded: false');
  });

  describe('on a Node version that is too old', () => {
    it('continues with the Node that npm has installed', async () => {
      const { code, stdout } = await runCommand(['help'], {}, { before: fakeVersion('20.19.0') });
      expect(code).to.equal(0);
      expect(stdout).to.include('keys ');
    });

    it('names the required version if no other Node is installed, before it loads other modules', async () => {
      const env = { VALETKEY_REEXEC: '1', DATA_DIR: join(folder.path, 'none') };
      const { code, stderr } = await runCommand(['serve'], env, { before: fakeVersion('20.19.0') });
      expect(code).to.equal(1);
      expect(stderr).to.include('Node 24').and.to.include('v20.19.0');
      expect(stderr).not.to.include('    at ');
    });
  });
});
