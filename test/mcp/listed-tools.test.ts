import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { ACCOUNT_KEY, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { connectMcp, REVISIONS, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH } from '../support/mcp-configs.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const ADA = { user_id: 'user-1', identifier: 'ada@acme.test' };
const FINDERS = ['valetkey_search_tools', 'valetkey_call_tool'];
const THING = { id: 7 };

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
const dataOf = (result: unknown) => (result as CallToolResult).structuredContent as any;

describe('an MCP server with more tools than a model can choose among', () => {
  let server: TestServer;
  let upstream: Upstream;
  let connector: string;
  let connectionId: string;
  let configs = 0;
  const clients: Client[] = [];
  const numbers = Array.from({ length: 45 }, (_, index) => String(index + 10));

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, THING));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
    });
    const provider = await createProvider(server, { proxy_enabled: true, proxy_url: KEYED_ORIGIN });
    connector = provider.identifier;
    await storeTools(server, [
      ...numbers.map((number) => ownTool(connector, `acme_get_thing_${number}`)),
      ownTool(connector, 'acme_refund_the_purchase_of_a_customer', {
        description: 'Refunds a payment of a customer. The money arrives after some days.',
        hints: { read_only: false, destructive: true, idempotent: true, open_world: true },
      }),
    ]);
  });
  // Each test has its own connection, because uses of tools are counted for each connection.
  beforeEach(async () => {
    const connection = await createConnection(server, { connector });
    connectionId = connection.id;
    await createAccount(server, {
      connector: connection.key_id,
      identifier: ADA.identifier,
      userId: ADA.user_id,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: ACCOUNT_KEY } } } },
    } as never);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    upstream.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  async function connect(revision: (typeof REVISIONS)[number], mapping?: Record<string, unknown>): Promise<Client> {
    let id = connectionId;
    if (mapping) {
      configs += 1;
      const body = { name: `Config ${configs}`, mappings: [{ connection_id: id, ...mapping }] };
      id = (await server.call('POST', MCP_CONFIGS_PATH, { body })).body.config.id;
    }
    const client = await connectMcp(server, id, await sessionToken(server, id, ADA), { revision });
    clients.push(client);
    return client;
  }
  const listed = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
  const errorsOf = (result: unknown) => dataOf(result).error.errors.map(({ field }: { field: string }) => field);

  for (const revision of REVISIONS) {
    describe(`in revision ${revision}`, () => {
      it('lists 40 tools of a connection, sorted by name, and two that find and call the others', async () => {
        const client = await connect(revision);
        const names = await listed(client);
        expect(names.slice(0, 2)).to.deep.equal(FINDERS);
        expect(names.slice(2)).to.have.length(40);
        expect(names.slice(2)).to.deep.equal(names.slice(2).toSorted());
        expect(names).to.not.include('acme_refund_the_purchase_of_a_customer');
        expect(await listed(client)).to.deep.equal(names);
      });

      it('finds a tool that is not listed, and calls it by either way', async () => {
        const client = await connect(revision);
        const found = await client.callTool({
          name: FINDERS[0] as string,
          arguments: { query: 'give money back', limit: 1 },
        });
        expect(dataOf(found).tools).to.have.length(1);
        const [tool] = dataOf(found).tools;
        expect(tool).to.have.all.keys('name', 'description', 'inputSchema');
        expect(tool.name).to.equal('acme_refund_the_purchase_of_a_customer');
        expect(tool.inputSchema.required).to.deep.equal(['number']);
        const call = { name: tool.name, arguments: { number: 7 } };
        const results = [
          await client.callTool({ name: FINDERS[1] as string, arguments: call }),
          await client.callTool(call),
        ];
        for (const result of results) expect(dataOf(result).data).to.deep.equal(THING);
        expect(upstream.requests.map(({ target }) => target)).to.deep.equal(['/things/7', '/things/7']);
        const { body } = await server.call('GET', `/api/v1/executions/${dataOf(results[0]).execution_id}`);
        expect(body.execution).to.include({ tool_name: tool.name, status: 'SUCCEEDED' });
      });

      it('checks the inputs of both tools, and the arguments of the called tool', async () => {
        const client = await connect(revision);
        const call = (name: string | undefined, input: object) =>
          client.callTool({ name: name as string, arguments: input as never });
        expect(errorsOf(await call(FINDERS[0], { query: '', limit: 21, colour: 1 }))).to.have.members([
          'tool_input.query',
          'tool_input.limit',
          'tool_input.colour',
        ]);
        expect(errorsOf(await call(FINDERS[1], {}))).to.deep.equal(['tool_input.name']);
        expect(errorsOf(await call(FINDERS[1], { name: 'github_list_issues' }))).to.deep.equal(['tool_input.name']);
        expect(errorsOf(await call(FINDERS[1], { name: FINDERS[1] }))).to.deep.equal(['tool_input.name']);
        const wrong = { name: 'acme_get_thing_10', arguments: { number: 'seven' } };
        expect(errorsOf(await call(FINDERS[1], wrong))).to.deep.equal(['tool_input.number']);
        expect(upstream.requests).to.have.length(0);
      });

      it('says so if nothing was found', async () => {
        const client = await connect(revision);
        const found = await client.callTool({ name: FINDERS[0] as string, arguments: { query: 'zzzz' } });
        expect(dataOf(found)).to.deep.include({ tools: [] });
        expect(dataOf(found).note).to.match(/other words/);
      });

      it('lists exactly the tools that a config names, and as many as a config allows', async () => {
        const names = [...numbers.map((number) => `acme_get_thing_${number}`), 'http_get'];
        expect(await listed(await connect(revision, { tools: names }))).to.deep.equal(names);
        const all = await listed(await connect(revision, { max_listed_tools: null }));
        expect(all).to.include('acme_refund_the_purchase_of_a_customer');
        expect(all).to.not.include.members(FINDERS);
        expect(await listed(await connect(revision, { max_listed_tools: 3 }))).to.have.length(5);
      });

      it('does not know the two tools if it lists all', async () => {
        const client = await connect(revision, { tools: ['http_get'] });
        for (const name of FINDERS) {
          const call = client.callTool({ name, arguments: { query: 'money', name: 'http_get' } });
          expect(await call.then(String, String)).to.match(/Unknown tool valetkey_/);
        }
      });
    });
  }

  it('lists a tool that users call before tools that were never called', async () => {
    const client = await connect('2026-07-28', { max_listed_tools: 1 });
    const name = 'acme_get_thing_54';
    expect(await listed(client)).to.not.include(name);
    await client.callTool({ name: FINDERS[1] as string, arguments: { name, arguments: { number: 1 } } });
    // Connects a new client, because the first one may cache its list for a minute.
    expect(await listed(await connect('2026-07-28', { max_listed_tools: 1 }))).to.deep.equal([...FINDERS, name]);
  });

  it('has an own tool with the name of a finder tool called through it', async () => {
    await storeTools(server, [ownTool(connector, FINDERS[0] as string)]);
    const client = await connect('2026-07-28');
    expect((await listed(client)).filter((name) => name === FINDERS[0])).to.have.length(1);
    const call = { name: FINDERS[0], arguments: { number: 7 } };
    expect(dataOf(await client.callTool({ name: FINDERS[1] as string, arguments: call })).data).to.deep.equal(THING);
    const only = await connect('2026-07-28', { tools: [FINDERS[0]] });
    expect(dataOf(await only.callTool({ name: FINDERS[0] as string, arguments: { number: 7 } })).data).to.deep.equal(
      THING,
    );
  });
});
