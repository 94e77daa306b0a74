import { expect } from 'chai';
import { describeLogLine } from '../../http/monitoring/log-text.ts';
import { type CommandResult, runCommand } from '../support/child-server.ts';
import { startFakeServer } from '../support/cli.ts';

/**
 * Sets the title, clears the screen, writes over the line, reverses the text, and begins a sequence by one character.
 */
const HOSTILE = 'ada\u001b]0;pwned\u0007\u001b[2J\rroot\u009b31m\u202egnp.exe\u2066\u200b\n\u2028next';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

describe('text of providers and users in a terminal', () => {
  let fake: Awaited<ReturnType<typeof startFakeServer>>;

  before(async () => {
    fake = await startFakeServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://fake.test');
      const page = { next_page_token: '', prev_page_token: '', total_size: 1 };
      const account = { id: 'ca_1', identifier: HOSTILE, connector: HOSTILE, status: 'ACTIVE', user_id: HOSTILE };
      const bodies: Record<string, unknown> = {
        '/api/v1/connected_accounts': { ...page, connected_accounts: [account] },
        '/api/v1/connected_accounts/details': { connected_account: account },
        '/api/v1/execute_tool': { data: { [HOSTILE]: HOSTILE }, execution_id: HOSTILE },
        '/api/v1/tools:search': { hits: [{ tool: { name: HOSTILE, title: HOSTILE }, connector: HOSTILE }] },
        '/api/v1/audit_events:export': { id: 'aud_1', details: { [HOSTILE]: HOSTILE } },
        '/api/v1/mcp/configs/mcp_1': { config: { mcp_server_url: `https://x.example/${HOSTILE}` } },
      };
      const body = bodies[pathname];
      const problem = {
        title: HOSTILE,
        detail: HOSTILE,
        code: HOSTILE,
        request_id: HOSTILE,
        errors: [{ field: HOSTILE, message: HOSTILE }],
        next_action: { message: HOSTILE, operation_id: HOSTILE },
      };
      response.writeHead(body === undefined ? 409 : 200, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(body ?? problem)}\n`);
    });
  });
  after(() => fake.stop());

  const run = (...args: string[]): Promise<CommandResult> =>
    runCommand(args, { VALETKEY_URL: fake.origin, VALETKEY_TOKEN: 'any', FORCE_COLOR: '0' });

  const COMMANDS: string[][] = [
    ['accounts', 'list'],
    ['accounts', 'show', 'ca_1'],
    ['tools', 'run', 'x'],
    ['tools', 'search', 'x'],
    ['audit', 'export'],
    ['mcp', 'add', 'cursor', 'mcp_1'],
    ['mcp', 'add', 'codex', 'mcp_1'],
    ['webhooks', 'list'],
  ];
  for (const args of COMMANDS) {
    it(`cannot control it in valetkey ${args.join(' ')}`, async () => {
      const { stdout, stderr } = await run(...args);
      expect(`${stdout}${stderr}`).to.include('pwned');
      expect(stdout).not.to.match(CONTROLS);
      expect(stderr).not.to.match(CONTROLS);
    });
  }

  it('is unchanged for programs that read JSON', async () => {
    const [list, call] = await Promise.all([run('accounts', 'list', '--json'), run('tools', 'run', 'x', '--json')]);
    for (const { stdout } of [list, call]) expect(stdout).not.to.match(CONTROLS);
    expect(JSON.parse(list.stdout)[0].identifier).to.equal(HOSTILE);
    expect(JSON.parse(call.stdout).data).to.deep.equal({ [HOSTILE]: HOSTILE });
  });

  it('cannot control it in an argument that is repeated in an error', async () => {
    for (const args of [[HOSTILE], ['accounts', 'list', `--${HOSTILE}`], ['accounts', 'list', '--status', HOSTILE]]) {
      const { code, stderr } = await run(...args);
      expect(code).to.equal(2);
      expect(stderr).to.include('pwned').and.not.to.match(CONTROLS);
    }
  });

  it('cannot control it in the log of a server', () => {
    const entry = { level: 50, time: '2026-11-23T08:00:00.000Z', msg: HOSTILE, [HOSTILE]: HOSTILE };
    const line = describeLogLine(JSON.stringify({ ...entry, err: { message: HOSTILE, stack: HOSTILE } }), false);
    expect(line).to.include('pwned').and.not.to.match(CONTROLS);
  });
});
