import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer } from '../support/test-engine.ts';

const ACCOUNTS = 250;

describe('valetkey keys rotate, run twice at the same time', () => {
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  const fileOf = (machine: string) => join(folder.path, machine, 'keys');
  const envOf = (machine: string) => ({
    ...database.env,
    DATA_DIR: join(folder.path, machine),
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
  });
  const keysOn = (machine: string, args: string[]) => runCommand(['keys', ...args], envOf(machine));
  const idsIn = (machine: string) =>
    [...readFileSync(fileOf(machine), 'utf8').matchAll(/^(kek_\w+):/gm)].map((match) => String(match[1]));
  const accounts: string[] = [];
  let server: ChildServer;

  before(async () => {
    for (const machine of ['one', 'two']) mkdirSync(join(folder.path, machine));
    if (isOnServer()) {
      const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
      const { code, stderr } = await runCommand(['init'], { ...envOf('one'), ...client });
      expect(code, stderr).to.equal(0);
    }
    server = await startChildServer(envOf('one'));
    while (accounts.length < ACCOUNTS) accounts.push((await createAccount(server)).id);
  });

  after(async () => {
    await server?.stop();
    database.remove();
    folder.remove();
  });

  async function expectReadable(): Promise<void> {
    for (const id of [accounts[0], accounts.at(-1)])
      expect((await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`)).status).to.equal(200);
  }

  it('leaves every record readable when it is run on two machines with separate key files', async function () {
    if (!isOnServer()) return this.skip();
    const copyKeys = () => copyFileSync(fileOf('one'), fileOf('two'));
    copyKeys();
    const other = await startChildServer(envOf('two'));
    try {
      const [before] = idsIn('one');
      const results = await Promise.all([keysOn('one', ['rotate']), keysOn('two', ['rotate'])]);
      expect(results.map(({ code }) => code)).to.deep.equal([1, 1]);
      expect([idsIn('one')[0], idsIn('two')[0]], 'no key became active').to.deep.equal([before, before]);
      copyKeys();
      const { code, stderr } = await keysOn('one', ['rotate']);
      expect(code, stderr).to.equal(0);
      await expectReadable();
      const created = await createAccount(server);
      const read = await other.call('GET', `/api/v1/connected_accounts/auth?id=${created.id}`);
      expect(read.status, read.text).to.equal(200);
    } finally {
      await other.stop();
    }
  });

  it('ends with one active key, which encrypts all records', async () => {
    const results = await Promise.all([keysOn('one', ['rotate']), keysOn('one', ['rotate'])]);
    const output = JSON.stringify(results);
    expect(
      results.map(({ code }) => code),
      output,
    ).to.include(0);
    const completed = await keysOn('one', ['list']);
    const [active = '', ...old] = idsIn('one');
    for (const id of old) expect(completed.stdout, output).to.match(new RegExp(`${id} +\\S+ +0\\b`));
    expect(completed.stdout).to.match(new RegExp(`${active} +active +[1-9]`));
    await expectReadable();
  });
});
