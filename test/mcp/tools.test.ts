import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { LIST } from '../../core/budgets.ts';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { ACCOUNT_KEY, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { connectMcp, REVISIONS, rawMcp, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const THING = { id: 7, name: 'lamp', colour: 'green' };
const ADA = { user_id: 'user-1', identifier: 'ada@acme.test' };

/** The result of a call as data. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
const dataOf = (result: unknown) => (result as CallToolResult).structuredContent as any;

describe('tools over MCP', () => {
  let server: TestServer;
  let upstream: Upstream;
  let connectionId: string;
  let connector: string;
  const clients: Client[] = [];

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, THING));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
    });
    const provider = await createProvider(server, { proxy_enabled: true, proxy_url: KEYED_ORIGIN });
    const connection = await createConnection(server, { connector: provider.identifier });
    connectionId = connection.id;
    connector = connection.key_id;
    const output_schema = {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer' }, name: { type: 'string' } },
    };
    await storeTools(server, [
      ownTool(provider.identifier, 'acme_get_thing', { output_schema }),
      ownTool(provider.identifier, 'acme_delete_thing', {
        hints: { read_only: false, destructive: true, idempotent: true, open_world: true },
        request: { method: 'DELETE', path: '/things/{number}' },
      }),
    ]);
    await createAccount(server, {
      connector,
      identifier: ADA.identifier,
      userId: ADA.user_id,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: ACCOUNT_KEY } } } },
    } as never);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    upstream.handler = (_request, res) => json(res, 200, THING);
    upstream.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  async function connect(revision: (typeof REVISIONS)[number], id = connectionId): Promise<Client> {
    const client = await connectMcp(server, id, await sessionToken(server, id, ADA), { revision });
    clients.push(client);
    return client;
  }

  for (const revision of REVISIONS) {
    describe(`in revision ${revision}`, () => {
      it('are listed in the order of their names, each with its hints', async () => {
        const client = await connect(revision);
        const { tools } = await client.listTools();
        const names = tools.map(({ name }) => name);
        expect(names).to.include.members(['acme_delete_thing', 'acme_get_thing', 'http_get']);
        expect(names).to.deep.equal(names.toSorted());
        const remove = tools.find(({ name }) => name === 'acme_delete_thing');
        expect(remove?.annotations).to.deep.equal({
          title: 'Get thing',
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: true,
          openWorldHint: true,
        });
        expect(remove?.inputSchema.required).to.deep.equal(['number']);
        expect(remove?.outputSchema).to.have.nested.property('properties.data');
        for (const { name } of tools) expect(name).to.match(/^[a-z0-9_]{1,64}$/);
      });

      it('run with the account of the user, and return the same as data and as text', async () => {
        const client = await connect(revision);
        const result = (await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } })) as CallToolResult;
        expect(dataOf(result).data).to.deep.equal(THING);
        expect(dataOf(result).execution_id).to.match(/^exec_/);
        expect(JSON.parse((result.content[0] as { text: string }).text)).to.deep.equal(result.structuredContent);
        expect(upstream.requests[0]).to.include({ method: 'GET', target: '/things/7' });
        expect(upstream.requests[0]?.headers['x-api-key']).to.equal(ACCOUNT_KEY);
      });

      it('store the same record as a call over REST', async () => {
        const client = await connect(revision);
        const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } });
        await server.parts.store.write(async () => {});
        const { body } = await server.call('GET', `/api/v1/executions/${dataOf(result).execution_id}`);
        expect(body.execution).to.include({ tool_name: 'acme_get_thing', status: 'SUCCEEDED', upstream_status: 200 });
      });

      it('report the fields of an invalid input, and send nothing', async () => {
        const client = await connect(revision);
        const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 'seven', size: 1 } });
        expect(result.isError).to.equal(true);
        expect(dataOf(result).error).to.include({ code: 'INVALID_TOOL_INPUT', retryable: false });
        const fields = dataOf(result).error.errors.map(({ field }: { field: string }) => field);
        expect(fields).to.have.members(['tool_input.number', 'tool_input.size']);
        expect(upstream.requests).to.have.length(0);
      });

      it('report a failure of the provider as REST does', async () => {
        upstream.handler = (_request, res) => json(res, 429, { message: 'slow down' }, { 'retry-after': '3' });
        const client = await connect(revision);
        const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } });
        expect(result.isError).to.equal(true);
        const { body } = await server.call('POST', '/api/v1/execute_tool', {
          body: { tool_name: 'acme_get_thing', tool_input: { number: 7 }, connector, ...ADA },
        });
        expect(dataOf(result).error).to.deep.equal({ code: body.code, ...body.tool_error });
        expect(dataOf(result).error).to.include({
          kind: 'upstream_rate_limited',
          retryable: true,
          retry_after_ms: 3000,
        });
      });

      it('return a result of another format as text to clients that validate it', async () => {
        upstream.handler = (_request, res) => json(res, 200, { id: 'seven' });
        const client = await connect(revision);
        const result = (await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } })) as CallToolResult;
        expect(dataOf(result)).to.not.have.property('data');
        expect(dataOf(result).note).to.match(/output schema/);
        expect((result.content[0] as { text: string }).text).to.contain('"seven"');
      });

      it('are unknown under a name that is not offered', async () => {
        const client = await connect(revision);
        const call = () => client.callTool({ name: 'github_list_issues', arguments: {} });
        const error = await call().then(
          () => null,
          (thrown) => thrown,
        );
        expect(error?.code).to.equal(-32602);
      });
    });
  }

  describe('X14: refuse invalid messages with plain sentences', () => {
    for (const [params, message] of [
      [{ arguments: {} }, 'Invalid message: params.name is required'],
      [{ name: 5 }, 'Invalid message: params.name must be a string'],
      [{ name: 'acme_get_thing', arguments: [] }, 'Invalid message: params.arguments must be an object'],
    ] as const) {
      it(JSON.stringify(params), async () => {
        const token = await sessionToken(server, connectionId, ADA);
        const name = 'name' in params ? String(params.name) : '';
        const headers = { 'mcp-name': name, accept: 'application/json, text/event-stream' };
        const modern = await rawMcp(server, connectionId, { token, method: 'tools/call', params, headers });
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        const older = await server.call('POST', `/mcp/${connectionId}`, { token, body, headers });
        const olderError = JSON.parse(/^data: (.*)$/m.exec(older.text)?.[1] ?? older.text).error;
        for (const error of [modern.body.error, olderError]) expect(error).to.deep.equal({ code: -32602, message });
      });
    }

    it('hide an internal error, and log it', async () => {
      const broken = await startTestServer({
        overrides: {
          toolDirectory: wrap((made) => ({
            ...made,
            names: async () => Promise.reject(new Error('secret of the database')),
          })),
        },
      });
      const { id } = await createConnection(broken, { connector: 'github' });
      const { body } = await rawMcp(broken, id, { token: await sessionToken(broken, id, ADA) });
      expect(body.error).to.deep.equal({ code: -32603, message: 'Internal error' });
      expect(broken.logs.join()).to.contain('secret of the database');
      await broken.stop();
    });
  });

  it('that a connection does not allow are neither listed nor run', async () => {
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { allowed_tools: ['acme_get_thing'] } });
    const client = await connect('2026-07-28');
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['acme_get_thing']);
    const refused = await client.callTool({ name: 'acme_delete_thing', arguments: { number: 7 } }).catch((e) => e);
    expect(refused.code).to.equal(-32602);
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { allowed_tools: null } });
  });

  it('of a config are those of its mappings, each run with the account of its connection', async () => {
    const issues = await createConnection(server, { connector: 'github' });
    const body = {
      name: 'Two connections',
      mappings: [
        { connection_id: issues.id, tools: ['github_list_issues'] },
        { connection_id: connectionId, tools: ['acme_get_thing'] },
      ],
    };
    const config = (await server.call('POST', '/api/v1/mcp/configs', { body })).body.config;
    const client = await connect('2026-07-28', config.id);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal(['acme_get_thing', 'github_list_issues']);
    const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } });
    expect(dataOf(result).data).to.deep.equal(THING);
  });

  it('are listed for the caller only: caches must not share them (M5)', async () => {
    const token = await sessionToken(server, connectionId, ADA);
    const { body, headers } = await rawMcp(server, connectionId, { token });
    expect(body.result).to.include({ cacheScope: 'private', ttlMs: 60_000 });
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('F6: are listed on several pages if their schemas are large, without duplicates', async () => {
    const provider = await createProvider(server, { proxy_enabled: true, proxy_url: KEYED_ORIGIN });
    const { id } = await createConnection(server, { connector: provider.identifier });
    const input_schema = { type: 'object', description: 'x'.repeat(100_000) };
    const large = Array.from({ length: 30 }, (_, index) => `acme_large_${index + 10}`);
    await storeTools(
      server,
      large.map((name) => ownTool(provider.identifier, name, { input_schema })),
    );
    const token = await sessionToken(server, id, ADA);
    const listed: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
      const { text, body } = await rawMcp(server, id, { token, params: cursor === undefined ? {} : { cursor } });
      expect(text.length).to.be.below(1.2 * LIST.toolsBytes);
      listed.push(...body.result.tools.map(({ name }: { name: string }) => name));
      cursor = body.result.nextCursor;
    }
    expect(pages).to.be.at.least(3);
    expect(listed.filter((name) => name.startsWith('acme_large'))).to.deep.equal(large);
    expect(new Set(listed).size).to.equal(listed.length);
  });

  it('are listed the same every time', async () => {
    const token = await sessionToken(server, connectionId, ADA);
    const first = await rawMcp(server, connectionId, { token });
    const second = await rawMcp(server, connectionId, { token });
    expect(second.body.result.tools).to.deep.equal(first.body.result.tools);
  });

  it('never run with the account of another user', async () => {
    const other = { user_id: 'user-2', identifier: ADA.identifier };
    const client = await connectMcp(server, connectionId, await sessionToken(server, connectionId, other));
    clients.push(client);
    const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } });
    expect(result.isError).to.equal(true);
    expect(dataOf(result).error.code).to.equal('ACCOUNT_NOT_ACTIVE');
    expect(upstream.requests).to.have.length(0);
  });
});
