import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { apiEnv, commandsFor } from '../support/cli.ts';
import { execute } from '../support/execute.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const PROGRAM = join(import.meta.dirname, '../../cli/valetkey.js');
const SECRET = 'hush-hush-client-secret';
const TOOL = 'github_get_issue';
const INPUT = { owner: 'acme', repo: 'site', issue_number: 7 };

describe('commands of the API', () => {
  const folder = tempDir();
  let github: Upstream;
  let server: TestServer;
  let run: ReturnType<typeof commandsFor>;

  before(async () => {
    github = await startUpstream((_request, res) => json(res, 200, { number: 7, title: 'It works', state: 'open' }));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    run = commandsFor(server);
  });
  after(async () => {
    await server.stop();
    await github.stop();
    folder.remove();
  });

  /** Runs a command that must succeed, and returns its JSON. */
  const read = async (args: string[], input?: string) => {
    const { code, stdout, stderr } = await run([...args, '--json'], input === undefined ? {} : { input });
    expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
    return JSON.parse(stdout);
  };

  it('status shows whether the server is ready, its accounts and the refreshes of a day', async () => {
    await createAccount(server, { identifier: 'status' });
    const status = await read(['status']);
    expect(status).to.deep.include({ server: server.origin, status: 'ready' });
    expect(status.accounts.ACTIVE).to.be.above(0);
    expect(status.refreshes).to.deep.equal({ refreshes: 0, succeeded: 0, expired: 0, failed: 0 });
    const { stdout } = await run(['status']);
    expect(stdout)
      .to.match(/^Status +ready$/m)
      .and.match(/^ACTIVE +\d+$/m)
      .and.match(/^Refreshes \(24 h\) +0: 0 succeeded/m);
    const anonymous = await commandsFor(server, { VALETKEY_CLIENT_ID: '', VALETKEY_CLIENT_SECRET: '' })(['status']);
    expect([anonymous.code, anonymous.stdout.includes('ACTIVE')]).to.deep.equal([0, false]);
  });

  it('token prints a token with which the other commands work', async () => {
    const { stdout, code } = await run(['token', '--scope', 'accounts:read']);
    expect(code).to.equal(0);
    const env = { VALETKEY_CLIENT_ID: '', VALETKEY_CLIENT_SECRET: '', VALETKEY_TOKEN: stdout.trim() };
    const [allowed, refused] = await Promise.all([
      commandsFor(server, env)(['accounts', 'list']),
      commandsFor(server, env)(['connections', 'list']),
    ]);
    expect([allowed.code, refused.code], refused.stderr).to.deep.equal([0, 4]);
  });

  it('connections set creates and changes a connection, with a secret from standard input or a file', async () => {
    const created = await read(
      ['connections', 'set', 'gh-cli', '--connector', 'github', '--client-id', 'id-1', '--client-secret'],
      `${SECRET}\n`,
    );
    expect(created).to.deep.include({ key_id: 'gh-cli', client_id: 'id-1', has_client_secret: true });
    const file = join(folder.path, 'secret');
    writeFileSync(file, `${SECRET}-2\n`);
    await read(['connections', 'set', 'gh-cli', '--client-secret-file', file, '--allow-tool', TOOL]);
    const shown = await run(['connections', 'show', 'gh-cli']);
    expect(shown.stdout)
      .to.match(/^Client secret +set$/m)
      .and.match(new RegExp(`^Allowed tools +${TOOL}$`, 'm'));
    expect(shown.stdout).not.to.include(SECRET);
    expect((await read(['connections', 'set', created.id, '--allow-all-tools'])).allowed_tools).to.equal(null);
    const tuned = ['--trace-context', 'on', '--mcp-timeout', '120'];
    expect(await read(['connections', 'set', 'gh-cli', ...tuned])).to.include({
      send_trace_context: true,
      mcp_timeout_seconds: 120,
    });
    expect((await run(['connections', 'show', 'gh-cli'])).stdout)
      .to.match(/^Trace context +sent$/m)
      .and.match(/^MCP timeout +120 s$/m);
    const off = await read(['connections', 'set', 'gh-cli', '--trace-context', 'off']);
    expect(off).to.include({ send_trace_context: false, mcp_timeout_seconds: 120 });
    for (const invalid of [
      ['--mcp-timeout', '301'],
      ['--trace-context', 'yes'],
    ]) {
      expect((await run(['connections', 'set', 'gh-cli', ...invalid])).code, invalid.join(' ')).to.equal(2);
    }
    expect((await read(['connections', 'list'])).map(({ key_id }: { key_id: string }) => key_id)).to.include('gh-cli');
    const cases: [args: string[], message: string][] = [
      [['gh-none', '--client-id', 'x'], '--connector creates it'],
      [['gh-cli'], 'give at least one setting'],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await run(['connections', 'set', ...args]);
      expect([code, stderr.includes(message)], stderr).to.deep.equal([1, true]);
    }
  });

  it('connections doctor compares a connection with its connector', async () => {
    const { stdout, stderr } = await run(['connections', 'doctor', 'gh-cli']);
    expect(stdout, stderr).to.match(/^VERDICT +CHECK +EXPECTED +FOUND\n/);
    expect(stdout)
      .to.match(/^OK +connection client_secret +/m)
      .and.not.to.include(SECRET);
    expect((await run(['connections', 'doctor', 'gh-none'])).code).not.to.equal(0);
  });

  it('connections set never shows a secret that was given as an argument', async () => {
    for (const args of [[`--client-secret=${SECRET}`], ['--client-secret', SECRET]]) {
      const { code, stdout, stderr } = await run(['connections', 'set', 'gh-cli', ...args]);
      expect(code).to.equal(2);
      expect(stdout + stderr).not.to.include(SECRET);
    }
  });

  it('connections set asks for a secret at a terminal without showing it', async () => {
    await read(['connections', 'set', 'gh-typed', '--connector', 'github', '--client-id', 'id-1']);
    const command = [process.execPath, PROGRAM, 'connections', 'set', 'gh-typed', '--client-secret'].join(' ');
    const env = { PATH: process.env['PATH'], TERM: 'xterm', NO_COLOR: '1', ...apiEnv(server) };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => {
      const wasAsked = text.includes('Client secret: ');
      text += chunk;
      if (!wasAsked && text.includes('Client secret: ')) child.stdin.write(`${SECRET}\r`);
    });
    const [code] = await once(child, 'close');
    expect(code, text).to.equal(0);
    expect(text).to.match(/Client secret +set/);
    expect(text).not.to.include(SECRET);
  });

  it('accounts link, show, check and disconnect work with an account id or with its connector and identifier', async () => {
    const { id } = await createAccount(server, { identifier: 'ada@acme.test', userId: 'u-1' });
    const key = ['--connector', 'github', '--identifier', 'ada@acme.test', '--user', 'u-1'];
    expect(await read(['accounts', 'show', ...key])).to.include({ id, status: 'ACTIVE' });
    const verify = ['--user-verify-url', 'http://localhost:3000/verify'];
    await server.call('PUT', '/api/v1/environment', { body: { user_verify_urls: ['http://localhost:3000/verify'] } });
    const link = await run([
      'accounts',
      'link',
      '--connector',
      'gh-typed',
      '--identifier',
      'b',
      '--user',
      'u-2',
      ...verify,
    ]);
    expect(link.stdout, link.stderr).to.match(/^http:\/\/localhost\/\S+\n$/);
    expect(await read(['accounts', 'check', id])).to.deep.include({ id, outcome: 'ACTIVE' });
    expect(await read(['accounts', 'refresh', id])).to.deep.include({ id, outcome: 'UNCHANGED' });
    const asked = await run(['accounts', 'disconnect', id]);
    expect([asked.code, asked.stderr]).to.deep.equal([
      1,
      'valetkey accounts disconnect: nothing was done: there is no terminal to ask for confirmation; add --yes\n',
    ]);
    expect(await read(['accounts', 'disconnect', id, '--yes'])).to.include({ id, status: 'DISCONNECTED' });
    expect(
      (await read(['accounts', 'list', '--status', 'DISCONNECTED'])).map((one: { id: string }) => one.id),
    ).to.include(id);
  });

  it('tools are searched, shown and executed, and executions are listed and shown', async () => {
    const { id } = await createAccount(server, { identifier: 'runner' });
    const hits = await read(['tools', 'search', 'get', 'an', 'issue', '--limit', '5']);
    expect(hits.map(({ tool }: { tool: { name: string } }) => tool.name)).to.include(TOOL);
    expect((await run(['tools', 'show', TOOL])).stdout)
      .to.match(/^Connector +github$/m)
      .and.include('"issue_number"');
    const input = JSON.stringify(INPUT);
    const file = join(folder.path, 'input.json');
    writeFileSync(file, input);
    for (const [given, stdin] of [[input], [`@${file}`], ['-', input]] as const) {
      const args = ['tools', 'run', TOOL, '--account', id, '--input', given];
      const { code, stdout, stderr } = await run(args, stdin === undefined ? {} : { input: stdin });
      expect(code, stderr).to.equal(0);
      expect(JSON.parse(stdout)).to.include({ title: 'It works' });
      expect(stderr).to.match(/^Execution exec_\w+\n$/);
    }
    const before = github.requests.length;
    const dry = await run(['tools', 'run', TOOL, '--account', id, '--input', input, '--dry-run']);
    expect(JSON.parse(dry.stdout)).to.include({
      method: 'GET',
      url: 'https://api.github.com/repos/acme/site/issues/7',
    });
    expect(github.requests.length).to.equal(before);
    const executions = await read(['executions', 'list', '--tool', TOOL, '--status', 'SUCCEEDED']);
    expect(executions).to.have.length(3);
    expect((await run(['executions', 'show', executions[0].id])).stdout).to.match(/^Status +SUCCEEDED$/m);
    for (const wrong of ['[]', '{', 'null']) {
      const { code, stderr } = await run(['tools', 'run', TOOL, '--input', wrong]);
      expect([code, stderr]).to.deep.equal([1, 'valetkey tools run: --input must be a JSON object\n']);
    }
  });

  it('tools import converts a document on the server', async () => {
    const file = join(folder.path, 'desk.json');
    const operation = {
      operationId: 'listTickets',
      summary: 'List tickets',
      responses: { 200: { description: 'Tickets.' } },
    };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Desk', version: '1' },
      servers: [{ url: 'https://api.desk.example' }],
      paths: { '/tickets': { get: operation } },
    };
    writeFileSync(file, JSON.stringify(document));
    const dry = await read(['tools', 'import', file, '--connector', 'desk', '--dry-run']);
    expect(dry).to.deep.include({ applied: false });
    const { code, stdout, stderr } = await run(['tools', 'import', file, '--connector', 'desk']);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('+ desk_list_tickets').and.to.include('Provider desk created: https://api.desk.example');
  });

  it('executions tail and events tail print new entries until they are interrupted', async () => {
    const { id } = await createAccount(server, { identifier: 'tailed' });
    await server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
    const follow = async (args: string[], cause: () => Promise<unknown>) => {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        env: apiEnv(server),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
      while (lines.length === 0) {
        await cause();
        await new Promise((resolve) => setImmediate(resolve));
      }
      child.kill('SIGINT');
      expect((await ended)[0]).to.equal(0);
      return lines[0] ?? '';
    };
    const call = await follow(['executions', 'tail', '--json'], () => execute(server, id, TOOL, INPUT));
    expect(JSON.parse(call)).to.include({ tool_name: TOOL, status: 'SUCCEEDED' });
    let made = 0;
    const cause = () =>
      server.call('PUT', '/api/v1/environment', { body: { link_lifetime_seconds: 600 + (made++ % 60) } });
    const event = await follow(['events', 'tail', '--type', 'environment'], cause);
    expect(event).to.match(/^\d{4}-\S+Z {2}environment\.updated {2}evt_\w+$/);
  });

  it('executions tail shows a call that ends after a hundred newer ones have started', async () => {
    const { id } = await createAccount(server, { identifier: 'slow' });
    const held = Promise.withResolvers<void>();
    const normal = github.handler;
    github.handler = async (request, res, req) => {
      if (request.target.endsWith('/99')) await held.promise;
      return normal(request, res, req);
    };
    const child = spawn(process.execPath, [PROGRAM, 'executions', 'tail', '--json'], {
      env: apiEnv(server),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const shown: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => shown.push(JSON.parse(line).id));
    const call = async (input: object = INPUT) => (await execute(server, id, TOOL, { ...INPUT, ...input })).body;
    const untilShown = async (isShown: () => boolean, cause: () => Promise<unknown> = async () => {}) => {
      while (!isShown()) {
        await cause();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await untilShown(() => shown.length > 0, call);
    const before = github.requests.length;
    const slow = call({ issue_number: 99 });
    await untilShown(() => github.requests.length > before);
    const { execution_id: next } = await call();
    await untilShown(() => shown.includes(next));
    const { execution_id: last } = (await Promise.all(Array.from({ length: 110 }, () => call()))).at(-1);
    await untilShown(() => shown.includes(last));
    held.resolve();
    const { execution_id: ended } = await slow;
    await untilShown(() => shown.includes(ended));
    github.handler = normal;
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(new Set(shown).size).to.equal(shown.length);
  });

  it('audit list and export read the audit log', async () => {
    await createAccount(server, { identifier: 'audited' });
    const [record] = await read(['audit', 'list', '--action', 'connected_account.created', '--limit', '1']);
    expect(record).to.include({ action: 'connected_account.created', actor: 'test-client' });
    const file = join(folder.path, 'audit.jsonl');
    const exported = await run(['audit', 'export', '--output', file]);
    expect(exported.code, exported.stderr).to.equal(0);
    const records = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported.stderr).to.equal(`Exported ${records.length} records to ${file}.\n`);
    expect(records).to.deep.include(record);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const again = await run(['audit', 'export', '--output', file]);
    expect([again.code, readFileSync(file, 'utf8').length]).to.deep.equal([1, statSync(file).size]);
    expect(again.stderr).to.include('EEXIST');
  });

  it('webhooks list and test show endpoints, and whether a delivery to one works', async () => {
    const receiver = await startUpstream((_request, res) => res.writeHead(500).end());
    const own = await startTestServer({ env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${receiver.port}` } });
    const commands = commandsFor(own);
    const body = { url: `http://127.0.0.1:${receiver.port}/hook` };
    const { webhook_endpoint } = (await own.call('POST', '/api/v1/webhook_endpoints', { body })).body;
    expect((await commands(['webhooks', 'list'])).stdout).to.include(body.url);
    const failed = await commands(['webhooks', 'test', webhook_endpoint.id]);
    await own.stop();
    await receiver.stop();
    expect(failed.code, failed.stderr).to.equal(1);
    expect(failed.stdout).to.match(/^Response +500$/m);
  });

  it('tools overlays sets, shows, lists and deletes', async () => {
    const name = 'github_create_issue';
    const preset = ['--preset', '{"owner":"acme","repo":"shop"}', '--allow', '{"labels":["bug"]}'];
    const set = await read([
      'tools',
      'overlays',
      'set',
      name,
      ...preset,
      '--name',
      'report_bug',
      '--words',
      'For bugs.',
    ]);
    expect(set).to.deep.include({ new_name: 'report_bug', preset_inputs: { owner: 'acme', repo: 'shop' } });
    expect(await read(['tools', 'overlays', 'show', name])).to.deep.equal(set);
    const listed = await run(['tools', 'overlays', 'list']);
    expect(listed.stdout).to.match(/github_create_issue +report_bug .*owner, repo +labels +ACTIVE/);
    expect((await run(['tools', 'overlays', 'set', name, '--preset', '[]'])).stderr).to.include('--preset');
    expect((await run(['tools', 'overlays', 'set', name])).stderr).to.include('at least one change');
    expect(await read(['tools', 'overlays', 'delete', name])).to.deep.equal({ deleted: name });
    expect((await run(['tools', 'overlays', 'show', name])).code).to.equal(5);
  });

  it('mcp login-provider sets, shows and deletes', async () => {
    const set = ['mcp', 'login-provider', 'set', '--type', 'OIDC', '--issuer', 'https://login.acme.test'];
    const provider = await read(
      [...set, '--client-id', 'c-1', '--client-secret', '--organization-claim', 'tid'],
      SECRET,
    );
    expect(provider).to.deep.include({ type: 'OIDC', issuer: 'https://login.acme.test' });
    expect(provider.claims).to.deep.equal({ identifier: 'sub', user_id: 'sub', organization_id: 'tid' });
    const shown = await run(['mcp', 'login-provider', 'show']);
    expect(shown.stdout)
      .to.match(/^Client secret +set$/m)
      .and.not.to.include(SECRET);
    const jwt = ['--type', 'JWT', '--issuer', 'https://as.acme.test', '--algorithm', 'ES256', 'RS256'];
    expect((await read(['mcp', 'login-provider', 'set', ...jwt])).jwt.algorithms).to.deep.equal(['ES256', 'RS256']);
    expect((await run([...set, '--client-id', 'a', '--client-id', 'b'])).stderr).to.include('exactly one --client-id');
    expect(await read(['mcp', 'login-provider', 'delete', '--yes'])).to.deep.equal({ deleted: true });
    expect((await run(['mcp', 'login-provider', 'show'])).code).to.equal(5);
  });
});
