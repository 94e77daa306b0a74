import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { runCommand } from '../support/child-server.ts';
import { apiEnv, commandsFor, startFakeServer } from '../support/cli.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const PROGRAM = join(import.meta.dirname, '../../cli/valetkey.js');
const ESC = '\u001b';

describe('the output of valetkey', () => {
  const folder = tempDir();
  let server: TestServer;
  let run: ReturnType<typeof commandsFor>;

  before(async () => {
    server = await startTestServer();
    run = commandsFor(server);
    for (let i = 0; i < 120; i++) await createAccount(server, { identifier: `user-${i}` });
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  /** Runs a command on a pseudo-terminal. */
  const onTerminal = async (args: string[], env: Record<string, string> = {}, columns = 60) => {
    const command = [`stty cols ${columns};`, process.execPath, PROGRAM, ...args].join(' ');
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...apiEnv(server), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await once(child, 'close');
    return text.replaceAll('\r\n', '\n');
  };

  it('has colours on a terminal only, unless NO_COLOR or FORCE_COLOR is set', async () => {
    const list = ['connections', 'list'];
    const [piped, forced, terminal, plain] = await Promise.all([
      run(list).then(({ stdout }) => stdout),
      commandsFor(server, { FORCE_COLOR: '1' })(list).then(({ stdout }) => stdout),
      onTerminal(list),
      onTerminal(list, { NO_COLOR: '1' }),
    ]);
    expect(terminal).to.include(`${ESC}[1mCONNECTION`);
    expect(forced).to.include(`${ESC}[1mCONNECTION`);
    for (const text of [piped, plain]) expect(text).to.include('CONNECTION').and.not.to.include(ESC);
    const [help, plainHelp] = await Promise.all([onTerminal(['--help']), onTerminal(['--help'], { NO_COLOR: '1' })]);
    expect(help).to.include(`${ESC}[1mUsage:`);
    expect(plainHelp).to.include('Usage:').and.not.to.include(ESC);
  });

  it('truncates cells to the width of a terminal, and does not truncate elsewhere', async () => {
    const list = ['accounts', 'list', '--limit', '3'];
    const [terminal, piped] = await Promise.all([onTerminal(list, { NO_COLOR: '1' }), run(list)]);
    const [line = ''] = terminal.split('\n').filter((each) => each.includes('ca_'));
    expect(line).to.include('…').and.have.length.at.most(60);
    expect(piped.stdout).not.to.include('…');
  });

  it('truncates other cells before ids; truncates nothing if the width is unknown', async () => {
    const list = ['audit', 'list', '--limit', '3'];
    const [wide, unknown] = await Promise.all([110, 0].map((columns) => onTerminal(list, { NO_COLOR: '1' }, columns)));
    const lines = (wide ?? '').split('\n').filter((line) => line.includes('req_'));
    expect(lines).to.have.length(3);
    for (const line of lines)
      expect(line)
        .to.match(/…/)
        .and.match(/ req_[0-9a-z]{26}$/)
        .and.have.length.at.most(110);
    expect(unknown).to.include('req_').and.not.include('…');
  });

  it('is a table with column headings, or JSON', async () => {
    const [table, json] = await Promise.all([run(['accounts', 'list']), run(['accounts', 'list', '--json'])]);
    expect(table.stdout.split('\n')[0]).to.match(/^ACCOUNT +CONNECTOR +IDENTIFIER +OWNER +STATUS +LAST USED$/);
    const accounts = JSON.parse(json.stdout) as { id: string; identifier: string }[];
    expect(accounts).to.have.length(50);
    expect(table.stdout).to.include(accounts[0]?.id);
  });

  it('has as many rows as --limit says, across pages, and says when there are more', async () => {
    const [some, all] = await Promise.all([
      run(['accounts', 'list', '--limit', '110', '--json']),
      run(['accounts', 'list', '--all', '--json']),
    ]);
    expect(JSON.parse(some.stdout)).to.have.length(110);
    expect(some.stderr).to.equal('110 of 120 are shown; --limit or --all shows more.\n');
    const ids = (JSON.parse(all.stdout) as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).to.equal(120);
    expect(all.stderr).to.equal('');
    expect((await run(['accounts', 'list', '--all', '--limit', '3'])).code).to.equal(2);
  });

  it('describes an error of the API with its fields and the id of the request', async () => {
    const { code, stdout, stderr } = await run(['accounts', 'show', 'ca_x']);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.split('\n')[0]).to.equal(
      'valetkey accounts show: The request does not match the contract (VALIDATION_FAILED, 400)',
    );
    expect(stderr)
      .to.match(/\n {2}field id: must be the id of a connected account/)
      .and.match(/\n {2}request: req_\w+\n$/);
  });

  it('describes the next step', async () => {
    await createConnection(server, { connector: 'slack', key_id: 'slack' });
    expect((await run(['connections', 'set', 'slack', '--disable'])).code).to.equal(0);
    const { stderr } = await run(['accounts', 'link', '--connector', 'slack', '--identifier', 'a', '--user', 'u']);
    expect(stderr).to.match(/\n {2}next: The connection slack is disabled\..*\(enableConnection\)\n/);
  });

  it('has a different exit code for each kind of failure', async () => {
    const closed = await startFakeServer(() => {});
    await closed.stop();
    const page = await startFakeServer((_request, response) => response.end('<html>Welcome</html>'));
    const proxy = await startFakeServer((_request, response) => response.writeHead(502, { 'content-length': 0 }).end());
    const away = await startFakeServer((_request, response) =>
      response.writeHead(307, { location: 'https://elsewhere.example/' }).end(),
    );
    const list = ['accounts', 'list'];
    const cases: [args: string[], env: Record<string, string>, code: number, message: RegExp][] = [
      [['accounts', 'lst'], {}, 2, /unknown command 'lst'\. Did you mean list\?/],
      [[...list, '--statsu'], {}, 2, /unknown option '--statsu'\. Did you mean --status\?/],
      [[...list, '--status', 'GONE'], {}, 2, /Allowed choices are ACTIVE/],
      [list, { VALETKEY_CLIENT_SECRET: 'vks_wrong-secret-of-this-client' }, 4, /returned 401: .*\(invalid_client\)/],
      [list, { VALETKEY_TOKEN: 'not-a-token' }, 4, /UNAUTHENTICATED, 401/],
      [list, { VALETKEY_TOKEN: server.token('tools:read') }, 4, /INSUFFICIENT_SCOPE, 403/],
      [['tools', 'show', 'no_such_tool'], {}, 5, /NOT_FOUND, 404/],
      [list, { VALETKEY_URL: closed.origin }, 3, /cannot be reached \(ECONNREFUSED\)/],
      [list, { VALETKEY_URL: page.origin }, 1, /does not seem to be .* a Valetkey server/],
      [['status'], { VALETKEY_URL: page.origin }, 1, /does not seem to be .* a Valetkey server/],
      [['status'], { VALETKEY_URL: proxy.origin }, 1, /the server returned 502/],
      [list, { VALETKEY_URL: away.origin }, 1, /redirects to https:\/\/elsewhere/],
      [list, { VALETKEY_URL: 'https://keys.example/api' }, 1, /VALETKEY_URL or --server must be an http/],
      [list, { VALETKEY_CLIENT_ID: '' }, 1, /set VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET/],
    ];
    const results = await Promise.all(cases.map(([args, env]) => commandsFor(server, env)(args)));
    for (const [index, { code, stdout, stderr }] of results.entries()) {
      const [args, , expected, message] = cases[index] as (typeof cases)[number];
      expect([code, stdout], `${args.join(' ')}: ${stderr}`).to.deep.equal([expected, '']);
      expect(stderr).to.match(message).and.not.to.include('wrong-secret');
    }
    await Promise.all([page.stop(), proxy.stop(), away.stop()]);
  });

  it('warns before a credential is sent without encryption to another machine', async () => {
    const away = await commandsFor(server, { VALETKEY_URL: 'http://keys.invalid' })(['accounts', 'list']);
    expect(away.code).to.equal(3);
    expect(away.stderr).to.include('Warning: requests to http://keys.invalid are not encrypted');
    const local = await commandsFor(server, { VALETKEY_URL: 'http://localhost:1' })(['accounts', 'list']);
    expect([local.code, local.stderr.includes('Warning')]).to.deep.equal([3, false]);
  });

  it('takes settings from a file', async () => {
    const file = join(folder.path, 'env');
    const settings = Object.entries(apiEnv(server)).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(file, settings.join(''));
    const { code, stderr } = await runCommand(['accounts', 'list', '--env-file', file]);
    expect(code, stderr).to.equal(0);
    const missing = await runCommand(['accounts', 'list', '--env-file', join(folder.path, 'none')]);
    expect(missing.code).not.to.equal(0);
    expect(missing.stderr.trim().split('\n')).to.have.length(1);
    expect(missing.stderr).to.include(join(folder.path, 'none'));
  });

  it('refuses to take settings from a pipe, which Node has read before', async () => {
    const pipe = ['bash', '-c', 'echo VALETKEY_URL=http://127.0.0.1:1 | "$0" "$@"'];
    const { code, stdout, stderr } = await runCommand(['status', '--env-file', '/dev/stdin'], {}, { through: pipe });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.trim()).to.equal(
      'valetkey status: --env-file /dev/stdin must be a regular file, not a pipe or a device',
    );
  });

  it('warns of unknown settings', async () => {
    const { code, stderr } = await commandsFor(server, { VALETKEY_RATE_LIMITS: '5' })([
      'accounts',
      'list',
      '--limit',
      '1',
    ]);
    expect(code).to.equal(0);
    expect(stderr).to.include('Warning: VALETKEY_RATE_LIMITS is not a setting; did you mean VALETKEY_RATE_LIMIT?');
    expect((await run(['status'])).stderr).to.equal('');
  });

  it('ends without an error when its reader has closed the pipe', async () => {
    const lines = await startFakeServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      const line = `${JSON.stringify({ id: 'aud_1', filler: 'x'.repeat(500) })}\n`;
      response.end(line.repeat(5_000));
    });
    const script = `"$0" "$@" | head -1; echo "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', script, process.execPath, PROGRAM, 'audit', 'export'], {
      env: { PATH: process.env['PATH'], VALETKEY_URL: lines.origin, VALETKEY_TOKEN: 'any' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await once(child, 'close');
    expect(stderr).to.equal('');
    expect(stdout).to.match(/^\{"id":"aud_1".*\}\n141\n$/);
    await lines.stop();
  });
});
