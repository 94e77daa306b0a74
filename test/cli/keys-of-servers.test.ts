import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer } from '../support/test-engine.ts';

const IN_AN_HOUR = 'const { now } = Date; Date.now = () => now() + 3_600_000;';

/** Two machines with separate key files use one database. The operator copies the key file between them by hand. */
describe('valetkey keys, for servers with separate key files', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  const fileOf = (machine: string) => join(folder.path, machine, 'keys');
  const envOf = (machine: string) => ({
    ...database.env,
    DATA_DIR: join(folder.path, machine),
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
  });
  const keysOn = (machine: string, args: string[], before?: string) =>
    runCommand(['keys', ...args], envOf(machine), { before });
  const copyKeys = () => copyFileSync(fileOf('one'), fileOf('two'));
  const idsIn = (machine: string) =>
    [...readFileSync(fileOf(machine), 'utf8').matchAll(/^(kek_\w+):/gm)].map((match) => String(match[1]));
  let one: ChildServer;
  let two: ChildServer;
  let first: string;
  let made = 0;

  before(async () => {
    for (const machine of ['one', 'two']) mkdirSync(join(folder.path, machine));
    const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
    const init = await runCommand(['init'], { ...envOf('one'), ...client });
    expect(init.code, init.stderr).to.equal(0);
    copyKeys();
    [one, two] = await Promise.all([startChildServer(envOf('one')), startChildServer(envOf('two'))]);
    [first = ''] = idsIn('one');
  });

  after(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    database.remove();
    folder.remove();
  });

  /** Each server reads what the other one has encrypted. */
  async function expectShared(): Promise<void> {
    for (const [writer, reader] of [
      [one, two],
      [two, one],
    ] as const) {
      const token = `ghp_of_test_${made++}`;
      const { id } = await createAccount(writer, { token });
      const read = await reader.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      expect(read.status, read.text).to.equal(200);
      expect(read.text).to.include(token);
    }
  }

  it('adds a key, which is not used for encryption while a server lacks it', async () => {
    const { code, stdout, stderr } = await keysOn('one', ['rotate']);
    expect(code).to.equal(1);
    const [active, standby] = idsIn('one');
    expect(active).to.equal(first);
    expect(stdout).to.include(`Standby key: ${standby}`);
    expect(stderr)
      .to.match(/do not have it yet: inst_\w+\./)
      .and.include('to their machines');
    expect((await keysOn('one', ['list'])).stdout).to.match(new RegExp(`${standby} +standby +0`));
    await expectShared();
  });

  it('makes the new key active once all servers have it, and each server decrypts what the others encrypt', async () => {
    copyKeys();
    const [, standby] = idsIn('one');
    const { code, stdout, stderr } = await keysOn('one', ['rotate']);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(`New active key: ${standby}`);
    expect(idsIn('one')).to.deep.equal([standby, first]);
    await expectShared();
  });

  it('keeps the old key while a server encrypts with it, and removes it afterwards', async () => {
    const early = await keysOn('one', ['retire', first], IN_AN_HOUR);
    expect(early.code).to.equal(1);
    expect(early.stderr).to.include('Running servers (1) still encrypt with another key');
    copyKeys();
    let retired = await keysOn('one', ['retire', first], IN_AN_HOUR);
    // The second server reports its new active key within some seconds. Its earlier data must still be encrypted again.
    while (retired.stderr.includes('Running servers')) retired = await keysOn('one', ['retire', first], IN_AN_HOUR);
    expect(retired.stderr).to.include('keys rotate` first');
    const completed = await keysOn('one', ['rotate']);
    expect(completed.code, completed.stderr).to.equal(0);
    expect(completed.stdout, 'no further key').not.to.include('New active key');
    expect((await keysOn('one', ['retire', first], IN_AN_HOUR)).code).to.equal(0);
    expect(idsIn('one')).to.have.length(1);
    await expectShared();
  });
});
