import { expect } from 'chai';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import type { McpProvider } from '../support/mcp-provider.ts';
import { json, listed, type RawMcpServer, result } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';
import type { TestServer } from '../support/server.ts';

const FORMATS = ['openai', 'openai&strict=true', 'anthropic', 'gemini', 'mcp'] as const;

describe('tools that MCP servers list', () => {
  let upstream: RawMcpServer;
  let server: TestServer;
  let provider: McpProvider;

  let world: RawMcpWorld;

  before(async () => {
    world = await startRawMcpWorld();
    ({ upstream, server, provider } = world);
  });
  beforeEach(() => world.reset());
  after(() => world.stop());

  const sync = async (...tools: unknown[]) => {
    upstream.tools = tools;
    return (await provider.sync({ accept_changes: true })).body;
  };
  const stored = async (name: string) => (await server.call('GET', `/api/v1/tools/${name}`)).body.tool;
  const sentArguments = () => upstream.of('tools/call').at(-1)?.message?.params.arguments;

  it('X1: keep their parameters without unsupported parts, and the report lists those parts', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where.', 'x-widget': 'file' },
        tags: { type: 'array', items: [] },
        either: { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      },
      required: ['path'],
    };
    const body = await sync(listed('read', { inputSchema }));
    expect(body.added).to.deep.equal(['their_tools_read']);
    expect(body.left_out).to.deep.equal([]);
    expect(body.adapted).to.deep.equal([
      {
        tool: 'their_tools_read',
        changes: ['inputSchema.properties.path.x-widget was omitted: it is not a keyword of JSON Schema'],
      },
    ]);
    const { input_schema: schema } = await stored('their_tools_read');
    expect(Object.keys(schema.properties)).to.deep.equal(['path', 'tags', 'either']);
    expect(schema.properties.path).to.deep.equal({ type: 'string', description: 'Where.' });
    expect((await provider.run('their_tools_read', { tags: [] })).body.code).to.equal('INVALID_TOOL_INPUT');
    expect((await provider.run('their_tools_read', { path: '/', tags: [1], either: { a: 1 } })).status).to.equal(200);
    expect(sentArguments()).to.deep.equal({ path: '/', tags: [1], either: { a: 1 } });
  });

  it('X1: are called without defaults that the caller did not send, because the server has its own', async () => {
    await sync(
      listed('page', {
        inputSchema: {
          type: 'object',
          properties: { size: { type: 'integer', default: null }, all: { default: true } },
        },
      }),
    );
    expect((await provider.run('their_tools_page', {})).status).to.equal(200);
    expect(sentArguments()).to.deep.equal({});
  });

  describe('X7: in the formats of model APIs', () => {
    before(async () => {
      const row = { type: 'object', properties: { 'a cell': { type: 'string' } } };
      const inputSchema = {
        $defs: { row },
        oneOf: [
          {
            type: 'object',
            properties: { $filter: { type: 'string' }, 'a b': { type: 'integer' } },
            required: ['$filter'],
          },
          {
            type: 'object',
            properties: { $ref: { type: 'string' }, rows: { type: 'array', items: { $ref: '#/$defs/row' } } },
          },
        ],
      };
      await sync(listed('query', { inputSchema }));
    });

    for (const format of FORMATS) {
      it(`have an object at the top and valid names at every level (${format})`, async () => {
        const { body } = await server.call('GET', `/api/v1/tools?connector=${provider.identifier}&format=${format}`);
        const [tool] = body.tools;
        const shown = tool.function?.parameters ?? tool.input_schema ?? tool.inputSchema ?? tool.parameters;
        expect(String(shown.type).toLowerCase()).to.equal('object');
        for (const word of ['oneOf', 'anyOf', 'allOf', '$ref', 'not', 'enum'])
          expect(shown, word).to.not.have.property(word);
        for (const name of namesIn(shown)) expect(name).to.match(/^[a-zA-Z0-9_.-]{1,64}$/);
        expect(namesIn(shown)).to.include.members(['filter', 'a_b', 'ref', 'rows', 'a_cell']);
      });
    }

    it('are closed for strict calls, which contain every input and null for omitted ones', async () => {
      const path = `/api/v1/tools?connector=${provider.identifier}&format=openai&strict=true`;
      const { strict, parameters } = (await server.call('GET', path)).body.tools[0].function;
      expect(strict).to.equal(true);
      expect(parameters).to.include({ additionalProperties: false });
      expect(parameters.required).to.have.members(Object.keys(parameters.properties));
      const input = { filter: 'x', a_b: null, ref: null, rows: [{ a_cell: null }] };
      expect((await provider.run('their_tools_query', { ...input, filter: 1 })).body.code).to.equal(
        'INVALID_TOOL_INPUT',
      );
      expect((await provider.run('their_tools_query', input)).status).to.equal(200);
      expect(sentArguments()).to.deep.equal({ $filter: 'x', rows: [{}] });
    });

    it('are called with the names of the server', async () => {
      const input = { filter: 'x', a_b: 1, ref: 'y', rows: [{ a_cell: 'z' }] };
      expect((await provider.run('their_tools_query', input)).status).to.equal(200);
      expect(sentArguments()).to.deep.equal({ $filter: 'x', 'a b': 1, $ref: 'y', rows: [{ 'a cell': 'z' }] });
      const dry = await server.call('POST', '/api/v1/execute_tool', {
        body: {
          tool_name: 'their_tools_query',
          tool_input: input,
          connected_account_id: provider.accountId,
          dry_run: true,
        },
      });
      expect(dry.body.dry_run_request.body.params.arguments).to.deep.equal(sentArguments());
    });
  });

  it('X8: that are malformed are skipped, each with its reason, without affecting others', async () => {
    const body = await sync(
      listed('good'),
      null,
      'text',
      { description: 'No name.' },
      { name: 5, inputSchema: { type: 'object' } },
      { name: 'schemaless' },
      listed('not-an-object', { inputSchema: { type: 'string' } }),
      listed('x'.repeat(200)),
      listed('large', { inputSchema: { type: 'object', description: 'x'.repeat(70_000) } }),
      listed('odd', { description: 7, title: [], annotations: 'none', outputSchema: 'text', icons: 3 }),
      listed('good'),
      listed('also-good'),
    );
    expect(body).to.not.have.property('detail');
    expect(body.added).to.deep.equal(['their_tools_good', 'their_tools_odd', 'their_tools_also_good']);
    expect(body.left_out).to.deep.equal([
      { tool: '#2', reason: 'it has no name' },
      { tool: '#3', reason: 'it has no name' },
      { tool: '#4', reason: 'it has no name' },
      { tool: '#5', reason: 'it has no name' },
      { tool: 'schemaless', reason: 'its input schema is not an object' },
      { tool: 'not-an-object', reason: 'its input schema does not describe an object' },
      { tool: `${'x'.repeat(127)}…`, reason: 'its name has more than 128 characters' },
      { tool: 'large', reason: 'its schemas have more than 65536 bytes' },
    ]);
    expect((await provider.run('their_tools_odd')).status).to.equal(200);
  });

  it('X8: that are not a list fail with a sentence', async () => {
    for (const value of [{ tools: 'none' }, {}, { tools: { a: 1 } }]) {
      upstream.on = ({ message }, res) => (message?.method === 'tools/list' ? result(res, message, value) : false);
      const { body } = await provider.sync();
      expect(body).to.include({ status: 502, detail: 'The MCP server returned no list of tools.' });
    }
    upstream.on = ({ message }, res) =>
      message?.method === 'tools/list'
        ? json(res, 200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no tools here' } })
        : false;
    expect((await provider.sync()).body.detail).to.equal('The MCP server returned an error: no tools here');
  });

  it('are the same when only the order of their members changes', async () => {
    await sync(listed('order', { inputSchema: { type: 'object', properties: { a: {}, b: {} } } }));
    upstream.tools = [
      { inputSchema: { properties: { b: {}, a: {} }, type: 'object' }, description: 'Does order.', name: 'order' },
    ];
    const { body } = await provider.sync();
    expect(body).to.deep.include({ added: [], flagged: [], accepted: [] });
  });

  it('may mirror parameters in headers, by the names of the server (x-mcp-header)', async () => {
    await sync(
      listed('where', {
        inputSchema: { type: 'object', properties: { 'the region': { type: 'string', 'x-mcp-header': 'Region' } } },
      }),
    );
    await provider.run('their_tools_where', { the_region: 'eu' });
    expect(upstream.of('tools/call').at(-1)?.headers['mcp-param-region']).to.equal('eu');
    const { body } = await server.call('GET', `/api/v1/tools?connector=${provider.identifier}&format=openai`);
    expect(JSON.stringify(body)).to.not.contain('x-mcp-header');
    const refused = await sync(
      listed('wrong', { inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } }),
    );
    expect(refused.left_out).to.deep.equal([
      { tool: 'wrong', reason: 'x-mcp-header is only allowed on strings, integers and booleans' },
    ]);
  });

  it('can be called by clients that check results against their output schemas', async () => {
    const outputSchema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/tree' } },
      $defs: { tree: { type: 'object', properties: { below: { type: 'array', items: { $ref: '#/$defs/tree' } } } } },
    };
    await sync(listed('tree', { outputSchema }));
    upstream.on = ({ message }, res) =>
      message?.method === 'tools/call'
        ? result(res, message, { content: [], structuredContent: { tree: { below: [{ below: [] }] } } })
        : false;
    const token = await sessionToken(server, provider.connectionId, { user_id: 'user-1', identifier: 'ada' });
    const client = await connectMcp(server, provider.connectionId, token);
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).to.not.contain('$ref');
    const called = await client.callTool({ name: 'their_tools_tree', arguments: {} });
    expect(called.structuredContent).to.deep.include({ data: { tree: { below: [{ below: [] }] } } });
    await client.close();
  });
});

function namesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([word, value]) => [
    ...(word === 'properties' ? Object.keys(value) : []),
    ...namesIn(value),
  ]);
}
