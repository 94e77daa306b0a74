import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { Tool } from '../../core/tools/tool.ts';
import { execute } from '../support/execute.ts';
import { type HeldPool, heldPool } from '../support/held-pool.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const MIB = 1024 * 1024;
const LIMITS = { threads: 2, heapBytes: MIB, idleMs: 1000, places: 3, waiting: 9, tenantBytes: MIB, bytes: 2 * MIB };

/** The work of validating doubles with each level of the value. */
const EXPONENTIAL = {
  type: 'object',
  allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } } }],
};

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe('H5: schemas of third parties', () => {
  let server: TestServer;
  let upstream: Upstream;
  let pool: HeldPool;
  let account: Record<string, string>;
  let tool: Tool;
  let client: Client | undefined;

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, nested(30)));
    pool = heldPool(LIMITS);
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
      overrides: { threads: { short: pool, responses: pool, imports: pool } },
    });
    const keyed = await createKeyedAccount(server);
    account = keyed.account as unknown as Record<string, string>;
    const connector = keyed.provider.identifier;
    const prefix = connector.replaceAll('-', '_');
    tool = ownTool(connector, `${prefix}_recurse`, {
      input_schema: EXPONENTIAL,
      output_schema: EXPONENTIAL,
      request: { method: 'GET', path: '/things' },
    });
    await storeTools(server, [tool]);
  });
  after(async () => {
    await client?.close();
    await server.stop();
    await upstream.stop();
  });

  it('are validated in a thread, without blocking the event loop', async () => {
    const answer = execute(server, account['id'] as string, tool.name, nested(30));
    await pool.running(1);
    const others = await server.call('GET', '/api/v1/tools?connector=github&page_size=1');
    expect(others.status, 'another request meanwhile').to.equal(200);
    expect(upstream.requests, 'nothing is sent before the input is checked').to.have.length(0);
    pool.endAll();
    expect((await answer).body, 'the check took too long').to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
  });

  it('use the slots of their environment: a further call is refused with 429', async () => {
    const waiting = [1, 2, 3].map(() => execute(server, account['id'] as string, tool.name, nested(30)));
    await pool.running(1);
    const refused = await execute(server, account['id'] as string, tool.name, nested(30));
    expect(refused.body, refused.text).to.include({ status: 429, code: 'RATE_LIMITED' });
    expect(refused.headers['retry-after']).to.equal('1');
    const ending = Promise.all(waiting);
    let done = false;
    void ending.finally(() => {
      done = true;
    });
    while (!done) {
      pool.endAll();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { status } of await ending) expect(status).to.equal(400);
  });

  it('are also validated in a thread for results to MCP clients', async () => {
    await storeTools(server, [{ ...tool, input_schema: { type: 'object' } }]);
    const { connection_id: id = '', user_id = '', identifier = '' } = account;
    client = await connectMcp(server, id, await sessionToken(server, id, { user_id, identifier }));
    const calling = client.callTool({ name: tool.name, arguments: {} });
    await pool.running(1);
    expect((await server.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(200);
    pool.endAll();
    const { structuredContent, isError } = await calling;
    expect(isError).to.not.equal(true);
    expect(structuredContent, 'the shape is unknown, so nothing is promised').to.have.property('note');
  });
});
