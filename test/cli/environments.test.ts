import { expect } from 'chai';
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

  const succeed = async (...args: string[]) => {
    const { code, stderr } = await run(...args);
    expect(code, stderr).to.equal(0);
  };
  const expectRefusals = async (cases: [args: string[], message: string, code: number][]) => {
    const results = await Promise.all(cases.map(([args]) => run(...args)));
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      const [args = [], message, expected] = cases[index] ?? [];
      expect([code, stdout, stderr.trim().split('\n').length], args.join(' ')).to.deep.equal([expected, '', 1]);
      expect(stderr)
        .to.match(/^valetkey environments/)
        .and.to.include(message);
    }
  };

  before(async () => {
    server = await startTestServer({ dataDir: folder.path });
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  it('adds an environment while a server runs, with a client whose secret is shown once', async () => {
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
      ['KIND', 'ADDRESS', 'HOSTS'],
      ['DEVELOPMENT', 'http://localhost', 'localhost'],
      ['PRODUCTION', 'https://live.example.com', 'b.example, keys.customer.example, live.example.com'],
    ]);
    expect(list.stdout).not.to.include(secret);
  });

  it('refuses an environment with invalid settings', async () => {
    const kind = ['--kind', 'PRODUCTION'];
    const base = ['--base-url', 'https://new.example.com'];
    const cases: [string[], string, number][] = [
      [['fly'], "unknown command 'fly'", 2],
      [['add', ...base], '--kind', 2],
      [['add', '--kind', 'STAGING', ...base], 'Allowed choices are DEVELOPMENT, PRODUCTION', 2],
      [['add', ...kind], '--base-url', 2],
      [['add', ...kind, '--base-url', 'https://new.example.com/path'], '--base-url', 2],
      [['add', ...kind, '--base-url', 'http://new.example.com'], 'https', 1],
      [['add', ...kind, ...base, '--host', 'new.example.com:8443'], '--host', 2],
      [['add', ...kind, ...base, '--host', 'https://x.example'], '--host', 2],
      [['add', ...kind, ...base, '--colour', 'red'], 'colour', 2],
      [['add', ...kind, '--base-url', 'https://localhost'], 'another environment', 1],
    ];
    await expectRefusals(cases);
    const environments = await server.parts.store.read.environments.list();
    expect(environments.map((one) => one.baseUrl)).not.to.include('https://new.example.com');
  });

  it('changes the settings of links, and the running server uses them immediately', async () => {
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
    await succeed('set', id, '--no-user-verify-urls');
    expect(await read()).to.deep.include({ link_lifetime_seconds: 3600, user_verify_urls: [] });
    await succeed('set', id, '--mcp-login-url', 'https://app.example/agents');
    expect(await read()).to.include({ mcp_login_url: 'https://app.example/agents' });
    await succeed('set', id, '--no-mcp-login-url');
    expect(await read()).to.include({ mcp_login_url: null });
  });

  it('stores nothing if a setting is invalid', async () => {
    const { id } = (await server.call('GET', '/api/v1/environment')).body.environment;
    await expectRefusals([
      [['set'], "missing required argument 'environment-id'", 2],
      [['set', id], 'give at least one setting', 1],
      [['set', id, 'another', '--link-lifetime', '60'], 'too many arguments', 2],
      [['set', 'env_unknown', '--link-lifetime', '60'], 'there is no environment', 1],
      [['set', id, '--link-lifetime', '59'], '--link-lifetime', 2],
      [['set', id, '--link-lifetime', 'long'], '--link-lifetime', 2],
      [
        ['set', id, '--user-verify-url', 'http://app.example/verify'],
        'http://app.example/verify must be an https URL',
        1,
      ],
      [['set', id, '--user-verify-url', 'https://app.example', '--no-user-verify-urls'], 'cannot be combined', 1],
      [
        ['set', id, '--mcp-login-url', 'http://app.example/agents'],
        'http://app.example/agents must be an https URL',
        1,
      ],
      [['set', id, '--colour', 'red'], 'colour', 2],
    ]);
  });
});
