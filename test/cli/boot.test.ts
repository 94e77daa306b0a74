import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { programVersion } from '../../core/program-version.ts';
import { generateKey } from '../../core/vault/key-ring.ts';
import { createAccount } from '../support/accounts.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const otherKey = () => generateKey(randomBytes).line.reveal();

/** Starts a server that must fail to start. @returns the code and the message of its error */
async function refusal(dataDir: string, env: Record<string, string> = {}): Promise<string> {
  try {
    const server = await startTestServer({ dataDir, env });
    await server.stop();
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
  throw new Error('the server has started');
}

describe('starting (S12)', () => {
  describe('for the first time', () => {
    let folder: ReturnType<typeof tempDir>;

    beforeEach(() => {
      folder = tempDir();
    });
    afterEach(() => folder.remove());

    it('creates a key that only the owner can read, prints its path, and shows the client secret once', async () => {
      const env = { DATA_DIR: folder.path, VALETKEY_CLIENT_ID: '', VALETKEY_CLIENT_SECRET: '' };
      const first = await startChildServer({ ...env, VALETKEY_CHECK_RESPONSE: 'all' });
      await first.stop();
      expect(statSync(join(folder.path, 'keys')).mode & 0o777).to.equal(0o600);
      expect(first.errors()).to.include(join(folder.path, 'keys'));
      const [secret = 'none was shown'] = /vks_[\w-]{43}/.exec(first.errors()) ?? [];
      expect(secret).to.match(/^vks_/);
      expect(first.logs.join('\n')).not.to.include(secret);
      expect(first.logs.join('\n')).to.include(
        'VALETKEY_CHECK_RESPONSE is not a setting; did you mean VALETKEY_CHECK_RESPONSES?',
      );
      const second = await startChildServer(env);
      await second.stop();
      expect(second.errors()).not.to.match(/vks_|export VALETKEY/);
    });

    it('logs the version, the database, the key and the environments', async () => {
      const server = await startChildServer({ DATA_DIR: folder.path });
      const keyId = /^kek_\w+/m.exec(readFileSync(join(folder.path, 'keys'), 'utf8'))?.[0];
      await server.stop();
      const line = server.logs.map((each) => JSON.parse(each)).find(({ msg }) => msg === 'listening');
      expect(line).to.deep.include({
        version: programVersion(),
        database: join(folder.path, 'valetkey.db'),
        key_id: keyId,
        environments: ['DEVELOPMENT http://localhost'],
      });
    });

    it('F16: starts after a first start that was interrupted while it made the key', async () => {
      for (const left of ['keys.new', 'keys.kek_0123456789abcdef.first'])
        writeFileSync(join(folder.path, left), 'kek_');
      const server = await startTestServer({ dataDir: folder.path });
      await createAccount(server);
      await server.stop();
      expect(statSync(join(folder.path, 'keys')).mode & 0o777).to.equal(0o600);
    });

    it('uses the keys of an environment variable, and writes no key file', async () => {
      const server = await startTestServer({ dataDir: folder.path, env: { VALETKEY_KEYS: otherKey() } });
      await server.stop();
      expect(existsSync(join(folder.path, 'keys'))).to.equal(false);
    });

    for (const [what, content] of [
      ['empty', ''],
      ['only a comment', '# no key\n'],
      ['not base64', 'kek_12345678:???\n'],
      ['too short', `kek_12345678:${Buffer.alloc(16, 1).toString('base64')}\n`],
      ['all zero', `kek_12345678:${Buffer.alloc(32).toString('base64')}\n`],
      ['without an id', `${Buffer.alloc(32, 1).toString('base64')}\n`],
    ] as const) {
      it(`does not start with a key that is ${what}, given by file or by variable`, async () => {
        mkdirSync(folder.path, { recursive: true });
        writeFileSync(join(folder.path, 'keys'), content, { mode: 0o600 });
        expect(await refusal(folder.path)).to.match(/^(NO_KEY|KEY_FORMAT): /);
        rmSync(join(folder.path, 'keys'));
        if (content === '') return;
        expect(await refusal(folder.path, { VALETKEY_KEYS: content })).to.match(/^(NO_KEY|KEY_FORMAT): /);
      });
    }

    for (const mode of [0o640, 0o604, 0o660, 0o644, 0o666]) {
      it(`does not start with a key file of mode ${mode.toString(8)}`, async () => {
        const path = join(folder.path, 'keys');
        writeFileSync(path, otherKey());
        chmodSync(path, mode);
        expect(await refusal(folder.path))
          .to.match(/^KEY_FILE_PERMISSIONS: /)
          .and.to.include(`0${mode.toString(8)}`);
      });
    }

    it('does not start when the key file is a dangling symbolic link', async () => {
      symlinkSync(join(folder.path, 'nowhere'), join(folder.path, 'keys'));
      expect(await refusal(folder.path)).to.match(/DATA_DIR: The key file .* does not exist$/);
    });
  });

  describe('with encrypted data', () => {
    let folder: ReturnType<typeof tempDir>;
    let keysFile: string;
    let key: string;

    before(async () => {
      folder = tempDir();
      keysFile = join(folder.path, 'keys');
      const server = await startTestServer({ dataDir: folder.path });
      await createAccount(server, { identifier: 'sealed', userId: 'u', token: 'ghp_sealedToken' });
      await server.stop();
      key = readFileSync(keysFile, 'utf8');
    });
    beforeEach(() => writeFileSync(keysFile, key, { mode: 0o600 }));
    afterEach(async () => {
      rmSync(keysFile, { force: true, recursive: true });
      writeFileSync(keysFile, key, { mode: 0o600 });
      const server = await startTestServer({ dataDir: folder.path });
      const answer = await server.call(
        'GET',
        '/api/v1/connected_accounts/auth?user_id=u&connector=github&identifier=sealed',
      );
      expect(answer.text, 'what is there after the refusal').to.include('ghp_sealedToken');
      await server.stop();
    });
    after(() => folder.remove());

    it('does not start without its key, and creates no new one', async () => {
      rmSync(keysFile);
      expect(await refusal(folder.path))
        .to.match(/^NO_KEY: /)
        .and.to.include(keysFile);
      expect(existsSync(keysFile)).to.equal(false);
    });

    it('does not start with another key', async () => {
      writeFileSync(keysFile, otherKey());
      expect(await refusal(folder.path)).to.match(/^UNKNOWN_KEY: /);
    });

    it('does not start with another key under the same id', async () => {
      const id = key.trim().split('\n').at(-1)?.split(':')[0];
      writeFileSync(keysFile, `${id}:${randomBytes(32).toString('base64')}`);
      expect(await refusal(folder.path))
        .to.match(/^KEY_CHECK_FAILED: /)
        .and.to.include(id);
    });

    it('does not start with another key in the variable, although the key file holds the right one', async () => {
      expect(await refusal(folder.path, { VALETKEY_KEYS: otherKey() })).to.match(/^UNKNOWN_KEY: /);
    });

    it('does not start while other users can read its key', async () => {
      chmodSync(keysFile, 0o640);
      expect(await refusal(folder.path)).to.match(/^KEY_FILE_PERMISSIONS: /);
    });

    it('starts with the same key in a variable, and with an additional key before it', async () => {
      for (const keys of [key, `${otherKey()}\n${key}`]) {
        const server = await startTestServer({ dataDir: folder.path, env: { VALETKEY_KEYS: keys } });
        expect((await server.call('GET', '/readyz')).status).to.equal(200);
        await server.stop();
      }
    });

    it('prints the reason in one line without any part of the key, and exits with an error code', async () => {
      writeFileSync(keysFile, otherKey());
      const result = await runCommand(['serve'], { DATA_DIR: folder.path, PORT: '0' });
      expect(result.code).to.equal(1);
      expect(result.stderr.trim().split('\n')).to.have.length(1);
      expect(result.stderr).to.match(/^valetkey serve: \d+ encrypted records? need/);
      for (const secret of [key.trim().split(':')[1], readFileSync(keysFile, 'utf8').split(':')[1]]) {
        expect(result.stderr + result.stdout).not.to.include(secret);
      }
    });
  });
});
