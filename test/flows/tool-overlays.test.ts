import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { connectMcp, REVISIONS, sessionToken } from '../support/mcp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { removeOverlay, setOverlay } from '../support/tool-overlays.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const CREATE = 'github_create_issue';
const LIST = 'github_list_issues';
const ADA = { user_id: 'user-1', identifier: 'ada@acme.test' };

describe('a tool with an overlay', () => {
  let github: Upstream;
  let server: TestServer;
  let connectionId: string;
  let account: string;
  const clients: Client[] = [];

  before(async () => {
    github = await startUpstream((_request, res) => json(res, 201, { number: 7, html_url: 'https://x.test/7' }));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    const created = await createAccount(server, { identifier: ADA.identifier, userId: ADA.user_id });
    account = created.id;
    connectionId = created['connection_id'] as string;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    for (const name of [CREATE, LIST]) await removeOverlay(server, name);
    github.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  async function connect(revision: (typeof REVISIONS)[number] = '2026-07-28', id = connectionId): Promise<Client> {
    const client = await connectMcp(server, id, await sessionToken(server, id, ADA), { revision });
    clients.push(client);
    return client;
  }

  /** Returns the names in each list and search of tools. */
  async function everywhere(): Promise<Record<string, string[]>> {
    // Connects a new client each time, because clients may cache lists for a minute.
    const client = await connect();
    const get = async (path: string) => (await server.call('GET', path)).body;
    const names = (tools: { name: string }[]) => tools.map(({ name }) => name);
    const all = await get('/api/v1/tools?connector=github&tag=issues&page_size=100');
    const scoped: { tool: { name: string } }[] = [];
    for (let token: string | undefined; token !== ''; ) {
      const after = token === undefined ? '' : `&page_token=${token}`;
      const page = await get(`/api/v1/tools:scoped?user_id=user-1&connector=github&page_size=100${after}`);
      scoped.push(...page.tools);
      token = page.next_page_token;
    }
    const found = await get('/api/v1/tools:search?query=create%20an%20issue&limit=50');
    const mcp: { name: string }[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      mcp.push(...page.tools);
      cursor = page.nextCursor;
      more = cursor !== undefined;
    }
    return {
      list: names(all.tools),
      scoped: names(scoped.map(({ tool }) => tool)),
      search: names(found.hits.map((hit: { tool: { name: string } }) => hit.tool)),
      mcp: names(mcp),
    };
  }

  it('is not listed and cannot be executed while it is hidden', async () => {
    for (const [place, names] of Object.entries(await everywhere())) expect(names, place).to.include(CREATE);
    await setOverlay(server, CREATE, { hidden: true });
    for (const [place, names] of Object.entries(await everywhere())) expect(names, place).not.to.include(CREATE);
    const answer = await execute(server, account, CREATE, { owner: 'acme', repo: 'shop', title: 'x' });
    expect(answer.body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
    expect(answer.body.detail).to.equal(`An overlay of this environment hides the tool ${CREATE}.`);
    expect((await server.call('GET', `/api/v1/tools/${CREATE}`)).body.detail).to.include('hides the tool');
    const client = await connect();
    const called = client.callTool({ name: CREATE, arguments: { owner: 'acme', repo: 'shop', title: 'x' } });
    const outcome = await called.then(
      () => 'ran',
      (error: Error) => error.message,
    );
    expect(outcome).to.include(`Unknown tool ${CREATE}`);
    expect(github.requests).to.have.length(0);
  });

  for (const revision of REVISIONS) {
    it(`runs only under its new name, over REST and MCP ${revision}`, async () => {
      await setOverlay(server, CREATE, { new_name: 'report_bug', preset_inputs: { owner: 'acme', repo: 'shop' } });
      const client = await connect(revision);
      for (const [place, names] of Object.entries(await everywhere())) {
        expect(names, place).to.include('report_bug').and.not.to.include(CREATE);
      }
      const rest = await execute(server, account, 'report_bug', { title: 'Broken' });
      expect(rest.status, rest.text).to.equal(200);
      expect((await finishedExecution(server, rest.body.execution_id)).tool_name).to.equal('report_bug');
      const mcp = (await client.callTool({ name: 'report_bug', arguments: { title: 'Broken' } })) as CallToolResult;
      expect(mcp.isError, JSON.stringify(mcp)).not.to.equal(true);
      expect(github.requests.map(({ method, target }) => `${method} ${target}`)).to.deep.equal([
        'POST /repos/acme/shop/issues',
        'POST /repos/acme/shop/issues',
      ]);
      const old = await execute(server, account, CREATE, { title: 'Broken' });
      expect(old.body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
      expect(old.body.detail).to.include('renamed').and.to.include('report_bug');
    });
  }

  it('is described without preset inputs, with the texts and values of the overlay, in every format', async () => {
    await setOverlay(server, CREATE, {
      title: 'Report a bug',
      added_description: 'Use it for the shop only.',
      preset_inputs: { owner: 'acme', repo: 'shop' },
      allowed_values: { labels: ['bug', 'regression'] },
    });
    const tools = [(await connect()).listTools().then(({ tools }) => tools.find(({ name }) => name === CREATE))];
    for (const format of ['native', 'openai', 'anthropic', 'gemini', 'mcp']) {
      tools.push(server.call('GET', `/api/v1/tools/${CREATE}?format=${format}`).then(({ body }) => body));
    }
    for (const text of (await Promise.all(tools)).map((tool) => JSON.stringify(tool))) {
      expect(text).to.include('Use it for the shop only.').and.to.include('"regression"');
      expect(text).not.to.include('"owner"');
      expect(text).not.to.include('acme');
    }
    const hits = (await server.call('GET', '/api/v1/tools:search?query=shop%20bug&limit=5')).body.hits;
    expect(hits.map(({ tool }: { tool: { name: string } }) => tool.name)).to.include(CREATE);
  });

  it('rejects values that are not allowed, and names the field', async () => {
    await setOverlay(server, LIST, { allowed_values: { state: ['closed'] } });
    const run = (input: object) => execute(server, account, LIST, { owner: 'acme', repo: 'shop', ...input });
    const wrong = await run({ state: 'open' });
    expect(wrong.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
    expect(wrong.body.errors).to.deep.equal([{ field: 'tool_input.state', message: 'must be one of closed' }]);
    const missing = await run({});
    expect(missing.body.errors).to.deep.equal([{ field: 'tool_input.state', message: 'is required' }]);
    expect((await run({ state: 'closed' })).status).to.equal(200);
    expect(github.requests.map(({ target }) => new URL(target, 'http://x').searchParams.get('state'))).to.deep.equal([
      'closed',
    ]);
  });

  for (const revision of REVISIONS) {
    it(`is narrowed and found by its added words over MCP ${revision} as well`, async () => {
      await setOverlay(server, LIST, {
        added_description: 'The place to look for grievances of plumbers.',
        preset_inputs: { owner: 'acme', repo: 'shop' },
        allowed_values: { state: ['closed'] },
      });
      const client = await connect(revision);
      const run = async (input: Record<string, unknown>) =>
        (await client.callTool({ name: LIST, arguments: input })) as CallToolResult;
      for (const [input, field] of [
        [{ state: 'open' }, 'state'],
        [{ state: 'closed', repo: 'vault' }, 'repo'],
      ] as const) {
        const refused = await run(input);
        expect(refused.isError).to.equal(true);
        expect(JSON.stringify(refused.content)).to.include(field);
      }
      expect(github.requests).to.have.length(0);
      expect((await run({ state: 'closed' })).isError).not.to.equal(true);
      expect(github.requests.map(({ target }) => target.split('?')[0])).to.deep.equal(['/repos/acme/shop/issues']);
      const found = await client.callTool({
        name: 'valetkey_search_tools',
        arguments: { query: 'grievances of plumbers' },
      });
      expect(JSON.stringify(found)).to.include(LIST);
    });
  }

  it('keeps its original name in settings', async () => {
    await setOverlay(server, CREATE, { new_name: 'report_bug' });
    const path = `/api/v1/connections/${connectionId}`;
    const wrong = await server.call('PUT', path, { body: { allowed_tools: ['report_bug'] } });
    expect(wrong.status).to.equal(400);
    const set = await server.call('PUT', path, { body: { allowed_tools: [CREATE] } });
    expect(set.status, set.text).to.equal(200);
    const client = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['report_bug']);
    const answer = await execute(server, account, 'report_bug', { owner: 'acme', repo: 'shop', title: 'x' });
    expect(answer.status, answer.text).to.equal(200);
    await server.call('PUT', path, { body: { allowed_tools: [LIST] } });
    const refused = await execute(server, account, 'report_bug', { owner: 'acme', repo: 'shop', title: 'x' });
    expect(refused.body.code).to.equal('TOOL_NOT_ALLOWED');
    await server.call('PUT', path, { body: { allowed_tools: null } });
  });

  it('is offered by MCP configs that name it', async () => {
    const mappings = [{ connection_id: connectionId, tools: [CREATE, LIST] }];
    const made = await server.call('POST', '/api/v1/mcp/configs', { body: { name: 'Bugs', mappings } });
    await setOverlay(server, CREATE, { new_name: 'report_bug' });
    const client = await connect('2026-07-28', made.body.config.id);
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal([LIST, 'report_bug']);
    const input = { owner: 'acme', repo: 'shop', title: 'x' };
    const result = (await client.callTool({ name: 'report_bug', arguments: input })) as CallToolResult;
    expect(result.isError).not.to.equal(true);
  });

  it('shows the request with its preset inputs in a dry run', async () => {
    await setOverlay(server, CREATE, { preset_inputs: { owner: 'acme', repo: 'shop', labels: ['bug'] } });
    const answer = await execute(server, account, CREATE, { title: 'x' }, { body: { dry_run: true } });
    expect(answer.body.dry_run_request.url).to.equal('https://api.github.com/repos/acme/shop/issues');
    expect(answer.body.dry_run_request.body).to.deep.equal({ title: 'x', labels: ['bug'] });
  });

  it('reads all pages within its preset inputs', async () => {
    github.handler = ({ target }, res) => {
      const page = Number(new URL(target, 'http://x').searchParams.get('page') ?? 1);
      const next = { link: `<https://api.github.com/elsewhere?state=all&page=${page + 1}>; rel="next"` };
      json(res, 200, [{ number: page }], page < 3 ? next : {});
    };
    await setOverlay(server, LIST, { preset_inputs: { owner: 'acme', repo: 'shop', state: 'closed' } });
    const answer = await execute(server, account, LIST, {}, { body: { all_pages: true } });
    expect(answer.body.data, answer.text).to.have.length(3);
    expect(github.requests.map(({ target }) => new URL(target, 'http://x').searchParams.getAll('state'))).to.deep.equal(
      [['closed'], ['closed'], ['closed']],
    );
  });
});
