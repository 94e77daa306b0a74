import { expect } from 'chai';
import { environmentsCommand } from '../../cli/environments.ts';
import { UsageError } from '../../cli/usage-error.ts';
import { auditOf } from '../support/audit.ts';
import { runCommand } from '../support/child-server.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { requestToken } from '../support/token-request.ts';

describe('valetkey environments', () => {
  const folder = tempDir();
  let server: TestServer;

  const run = (...args: string[]) => runCommand(['environments', ...args], { DATA_DIR: folder.path });

  const { DATA_DIR } = process.env;

  before(async () => {
    process.env['DATA_DIR'] = folder.path;
    server = await startTestServer({ dataDir: folder.path });
  });
  after(async () => {
    if (DATA_DIR === undefined) delete process.env['DATA_DIR'];
    else process.env['DATA_DIR'] = DATA_DIR;
    await server.stop();
    folder.remove();
  });

  it('adds one beside a running server, with a client whose secret is shown once', async () => {
    const base = ['--base-url', 'https://live.example.com'];
    const added = await run(
      'add',
      '--kind',
      'PRODUCTION',
      ...base,
      '--host',
      'Keys.Customer.example',
      '--host',
      'b.example',
    );
    expect(added.code, added.stderr).to.equal(0);
    const [, id = '', secret = ''] = /id +(cli_\w+)\s+secret +(vks_[\w-]+)/.exec(added.stdout) ?? [];

    for (const host of ['live.example.com', 'keys.customer.example', 'b.example:8443']) {
      const token = await requestToken(server, { client_id: id, client_secret: secret }, { host });
      expect(token.status, `${host} ${token.text}`).to.equal(200);
      const answer = await server.call('GET', '/api/v1/connections', {
        token: token.body.access_token,
        headers: { host },
      });
      expect(answer.body.total_size).to.equal(0);
    }
    const elsewhere = await requestToken(server, { client_id: id, client_secret: secret });
    expect(elsewhere.status, 'its client in the first environment').to.equal(401);

    const list = await run('list');
    expect(
      list.stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/ {2,}/).slice(1)),
    ).to.deep.equal([
      ['DEVELOPMENT', 'http://localhost', 'localhost'],
      ['PRODUCTION', 'https://live.example.com', 'b.example, keys.customer.example, live.example.com'],
    ]);
    expect(list.stdout).not.to.include(secret);
  });

  it('refuses what would not work', async () => {
    const kind = ['--kind', 'PRODUCTION'];
    const base = ['--base-url', 'https://new.example.com'];
    const cases: [string[], string][] = [
      [['fly'], 'the actions are'],
      [['add', ...base], '--kind'],
      [['add', '--kind', 'STAGING', ...base], '--kind'],
      [['add', ...kind], '--base-url'],
      [['add', ...kind, '--base-url', 'https://new.example.com/path'], '--base-url'],
      [['add', ...kind, '--base-url', 'http://new.example.com'], 'https'],
      [['add', ...kind, ...base, '--host', 'new.example.com:8443'], '--host'],
      [['add', ...kind, ...base, '--host', 'https://x.example'], '--host'],
      [['add', ...kind, ...base, '--colour', 'red'], 'colour'],
      [['add', ...kind, '--base-url', 'https://localhost'], 'another environment'],
    ];
    for (const [args, message] of cases) {
      const error = await environmentsCommand(args).catch((thrown: Error) => thrown);
      expect(error, args.join(' ')).to.be.instanceOf(UsageError).with.property('message').that.includes(message);
    }
    const environments = await server.parts.store.read.environments.list();
    expect(environments.map((one) => one.baseUrl)).not.to.include('https://new.example.com');
    const { code, stdout, stderr } = await run('add', ...kind);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^valetkey environments: --base-url .*\n$/);
  });

  it('sets what links need, and the running server uses it immediately', async () => {
    const { id } = (await server.call('GET', '/api/v1/environment')).body.environment;
    const urls = [
      '--user-verify-url',
      'https://app.example/verify',
      '--user-verify-url',
      'http://localhost:3000/verify',
    ];
    const set = await run('set', id, '--link-lifetime', '3600', ...urls);
    expect(set, set.stderr).to.include({
      code: 0,
      stdout: `Changed link_lifetime_seconds and user_verify_urls of ${id}.\n`,
    });
    const read = async () => (await server.call('GET', '/api/v1/environment')).body.environment;
    const user_verify_urls = ['https://app.example/verify', 'http://localhost:3000/verify'];
    expect(await read()).to.deep.include({ link_lifetime_seconds: 3600, user_verify_urls });
    const [entry] = await auditOf(server, id);
    expect(entry).to.include({ action: 'environment.updated', actor: 'operator' });
    await environmentsCommand(['set', id, '--no-user-verify-urls']);
    expect(await read()).to.deep.include({ link_lifetime_seconds: 3600, user_verify_urls: [] });
    await environmentsCommand(['set', id, '--mcp-login-url', 'https://app.example/agents']);
    expect(await read()).to.include({ mcp_login_url: 'https://app.example/agents' });
    await environmentsCommand(['set', id, '--no-mcp-login-url']);
    expect(await read()).to.include({ mcp_login_url: null });
  });

  it('sets nothing that would not work', async () => {
    const { id } = (await server.call('GET', '/api/v1/environment')).body.environment;
    const cases: [string[], string][] = [
      [[], 'use it as'],
      [[id], 'use it as'],
      [[id, 'another', '--link-lifetime', '60'], 'use it as'],
      [['env_unknown', '--link-lifetime', '60'], 'there is no environment'],
      [[id, '--link-lifetime', '59'], '--link-lifetime'],
      [[id, '--link-lifetime', 'long'], '--link-lifetime'],
      [[id, '--user-verify-url', 'http://app.example/verify'], 'http://app.example/verify must be an https URL'],
      [[id, '--user-verify-url', 'https://app.example', '--no-user-verify-urls'], 'cannot be combined'],
      [[id, '--mcp-login-url', 'http://app.example/agents'], 'http://app.example/agents must be an https URL'],
      [[id, '--mcp-login-url', 'https://app.example', '--no-mcp-login-url'], 'cannot be combined'],
      [[id, '--colour', 'red'], 'colour'],
    ];
    for (const [args, message] of cases) {
      const error = await environmentsCommand(['set', ...args]).catch((thrown: Error) => thrown);
      expect(error, args.join(' ')).to.be.instanceOf(UsageError).with.property('message').that.includes(message);
    }
  });
});
