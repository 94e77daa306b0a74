import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { TestBrowser } from '../support/browser.ts';
import { accountOf, allowVerifyUrls, makeLink, submitLink, VERIFY_URL, verifyUser } from '../support/links.ts';
import { REVISIONS } from '../support/mcp.ts';
import { syncTools } from '../support/mcp-provider.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PACKAGE = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance');
const CLIENT = join(import.meta.dirname, '../support/conformance-client.mjs');
const PORTS = '/proc/sys/net/ipv4/ip_local_port_range';
/** An https address, because only then can a metadata document identify the server as a client. */
const BASE_URL = 'https://valetkey.example';
const run = promisify(execFile);

/**
 * The suite only accepts its own document as a client, so an administrator sets it. That Valetkey otherwise uses the
 * document of the connection is tested in upstream-oauth.test.ts.
 */
const CLIENTS: Readonly<Record<string, object>> = {
  'auth/basic-cimd': { client_id: 'https://conformance-test.local/client-metadata.json' },
};

interface Scenario {
  scenario: string;
  /** The address of the MCP server of the suite. */
  url: string;
  /** The client that the suite has registered, if any. */
  context: { client_id?: string; client_secret?: string } | null;
}

/** Runs the scenarios of the protocol's suite about authorization, in which Valetkey is the client of an MCP server. */
describe('MCP conformance of the client', () => {
  let server: TestServer;
  let control: Server;
  let users = 0;

  before(async () => {
    // The servers of the suite listen on any free ports, so calls to all of these ports are allowed.
    const range = existsSync(PORTS) ? readFileSync(PORTS, 'utf8') : '49152 65535';
    const [first = 0, last = 0] = range.trim().split(/\s+/).map(Number);
    const allowed = Array.from({ length: last - first + 1 }, (_, index) => `localhost:${first + index}`);
    server = await startTestServer({ env: { BASE_URL, VALETKEY_EGRESS_ALLOW: allowed.join(',') } });
    await allowVerifyUrls(server, VERIFY_URL);
    control = createServer(async (req, res) => {
      const text = (await req.toArray()).join('');
      res.end(await use(JSON.parse(text)).catch((error: Error) => error.message));
    });
    await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    control.closeAllConnections();
    control.close();
    await server.stop();
  });

  /** Connects an account, lists the tools and calls them, and connects it again if that fails. */
  async function use({ url, scenario, context }: Scenario): Promise<string> {
    users += 1;
    const user = `user-${users}`;
    const fields = { display_name: 'Suite', auth_patterns: [{ type: 'OAUTH', is_mcp: true }], proxy_url: url };
    const { identifier } = await createProvider(server, fields);
    const { client_id, client_secret } = context ?? {};
    const client = client_id === undefined ? CLIENTS[scenario] : { client_id, client_secret };
    const { key_id: connector } = await createConnection(server, { connector: identifier, ...client });
    for (let round = 0; round < 3; round++) {
      await connect(connector, user);
      const answers = [await syncTools(server, identifier)];
      const account = await accountOf(server, user);
      const { tools = [] } = (await server.call('GET', `/api/v1/tools?connector=${identifier}`)).body;
      for (const { name: tool_name } of tools) {
        const body = { tool_name, tool_input: {}, connected_account_id: account?.id };
        answers.push(await server.call('POST', '/api/v1/execute_tool', { body }));
      }
      const failed = answers.find(({ status }) => status !== 200);
      if (!failed) return 'done';
    }
    return 'failed';
  }

  /** Opens a link as a user, until the application verifies the user. */
  async function connect(connector: string, user: string): Promise<void> {
    const browser = new TestBrowser({ hosts: { [BASE_URL]: server.origin } });
    const page = await submitLink(browser, await makeLink(server, { connector, user_id: user, identifier: user }));
    if (!page.location) throw new Error(`no consent: ${page.status}`);
    const back = await browser.follow(page, (next) => next.origin === new URL(VERIFY_URL).origin);
    const request = back.location && new URL(back.location).searchParams.get('auth_request_id');
    if (!request) throw new Error(`not connected: ${back.status}`);
    await verifyUser(server, request, user);
  }

  function play(command: string, scenario: string, revision: string) {
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision];
    return run(process.execPath, [join(PACKAGE, 'dist/index.js'), ...args]).catch((error) => error);
  }

  it('fails for a client that does nothing (control)', async () => {
    expect((await play(`${process.execPath} -e 0`, 'auth/metadata-default', '2026-07-28')).code).to.equal(1);
  });

  for (const revision of REVISIONS) {
    const required = parse(readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), 'utf8')).client as string[];
    for (const scenario of required.filter((name) => name.startsWith('auth/'))) {
      it(`of revision ${revision}: ${scenario} passes, without warnings`, async () => {
        const { port } = control.address() as AddressInfo;
        const command = `${process.execPath} ${CLIENT} http://127.0.0.1:${port}`;
        // The suite fails for a warning too, and every scenario must pass: no list of expected failures is given.
        const ran = await play(command, scenario, revision);
        expect(ran.code ?? 0, ran.stdout + ran.stderr).to.equal(0);
        expect(ran.stdout + ran.stderr).to.match(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
      });
    }
  }
});
