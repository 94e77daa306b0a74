import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../../core/accounts/create-account.ts';
import { openCredentials } from '../../core/accounts/credentials.ts';
import { amount } from '../support/amount.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startUpstream } from '../support/upstream.ts';

/** `make drill` runs the long form, which prints the time of each part. */
const ACCOUNTS = amount(process.env['DRILL_ACCOUNTS'], 300);
const BATCH = 250;

describe('the loss of a host: backup under load, restore to an empty host, start (F4)', () => {
  const folder = tempDir();
  const host = join(folder.path, 'host');
  const backup = join(folder.path, 'backup.db');
  const upstream = startUpstream();
  let env: Record<string, string>;
  const tokens = new Map<string, string>();
  let keyedId: string;
  const times: string[] = [];

  before(async () => {
    env = { VALETKEY_ENDPOINT_OVERRIDES: (await upstream).endpointOverride(KEYED_ORIGIN) };
    mkdirSync(host);
  });
  after(async () => {
    await (await upstream).stop();
    folder.remove();
    if (process.env['DRILL_ACCOUNTS']) console.log(`    ${ACCOUNTS} accounts: ${times.join(', ')}`);
  });

  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    times.push(`${what} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return result;
  };
  /** Creates an account with the function of core/, which takes less time than an HTTP request. */
  const create = async ({ parts }: TestServer, number: number) => {
    const environment = await parts.environmentOf('localhost');
    const token = `ghp_token${number}`;
    const key = { connector: 'github', identifier: `user-${number}`, organizationId: '', userId: `owner-${number}` };
    const input = { authorization_details: { static_auth: { details: { token } } } };
    const cause = { environmentId: environment.id, actor: 'system', requestId: '' };
    const { account } = await parts.store.write((tx) => createAccount(tx, parts, environment.id, key, input, cause));
    return { id: account.id, token };
  };

  it('backs up everything that was acknowledged, during writes', async () => {
    const server = await startTestServer({ env });
    keyedId = (await createKeyedAccount(server)).id;
    for (let from = 0; from < ACCOUNTS; from += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, ACCOUNTS - from) }, (_, place) => from + place);
      for (const { id, token } of await Promise.all(numbers.map((number) => create(server, number))))
        tokens.set(id, token);
    }
    let isDone = false;
    const { code, stderr } = await timed('backup', async () => {
      const made = runCommand(['backup', backup], { DATA_DIR: server.dataDir }).finally(() => {
        isDone = true;
      });
      for (let number = ACCOUNTS; !isDone; number++) await create(server, number);
      return made;
    });
    expect(code, stderr).to.equal(0);
    copyFileSync(join(server.dataDir, 'keys'), join(host, 'keys'));
    await server.stop();
  });

  it('restores it to an empty host and starts the server', async () => {
    const { code, stderr } = await timed('restore', () => runCommand(['restore', backup], { DATA_DIR: host }));
    expect(code, stderr).to.equal(0);
    const server = await timed('start', () => startChildServer({ DATA_DIR: host, ...env }));
    const result = await timed('first tool call', () => execute(server, keyedId, 'http_get', { path: '/' }));
    expect(result.status, result.text).to.equal(200);
    expect((await server.stop()).code).to.equal(0);
  });

  it('has every account that was acknowledged before the backup, and decrypts its credentials', async () => {
    const server = await startTestServer({ dataDir: host, env });
    const { store, vault, environmentOf } = server.parts;
    const { id: environmentId } = await environmentOf('localhost');
    for (const [id, token] of tokens) {
      const account = await store.read.accounts.get(environmentId, id);
      if (!account) throw new Error(`${id} is missing`);
      expect(openCredentials(vault, account, account)).to.deep.equal({ static_auth: { details: { token } } });
    }
    expect((await store.read.audit.verifyChain(environmentId)).intact).to.equal(true);
    await server.stop();
  });
});
