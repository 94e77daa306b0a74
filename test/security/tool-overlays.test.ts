import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createApiClient } from '../support/api-clients.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, removeOverlay, setOverlay } from '../support/tool-overlays.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const LIST = 'github_list_issues';

describe('a caller cannot get around an overlay', () => {
  let github: Upstream;
  let server: TestServer;
  let account: string;
  let keyed: Awaited<ReturnType<typeof createKeyedAccount>>;

  before(async () => {
    github = await startUpstream((_request, res) => json(res, 200, []));
    const overrides = [github.endpointOverride('https://api.github.com'), github.endpointOverride(KEYED_ORIGIN)];
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
    account = (await createAccount(server)).id;
    keyed = await createKeyedAccount(server);
  });
  beforeEach(() => setOverlay(server, LIST, { preset_inputs: { owner: 'acme', repo: 'shop', state: 'closed' } }));
  afterEach(async () => {
    await removeOverlay(server, LIST);
    github.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  const sent = () => github.requests.map(({ target }) => target);

  it('by setting a preset input, even to the same value or to null', async () => {
    for (const repo of ['other', 'shop', null]) {
      const answer = await execute(server, account, LIST, { repo });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
      expect(answer.body.errors).to.deep.equal([
        { field: 'tool_input.repo', message: 'must be omitted: the environment presets it' },
      ]);
    }
    expect(sent()).to.deep.equal([]);
  });

  it('by an invented cursor, in any notation of the parameter', async () => {
    const forged = ['state=all', 'STATE=all', 'state[]=all', 'state%5B0%5D=all', 'a=1;state=all', '%73tate=all'];
    for (const query of forged) {
      const cursor = Buffer.from(JSON.stringify({ tool: LIST, at: `${query}&page=2` })).toString('base64url');
      const answer = await execute(server, account, LIST, { cursor });
      expect(answer.status, answer.text).to.equal(200);
    }
    for (const target of sent()) {
      const url = new URL(target, 'http://x');
      expect(url.pathname).to.equal('/repos/acme/shop/issues');
      expect([...url.searchParams].filter(([name]) => /state/i.test(name))).to.deep.equal([['state', 'closed']]);
      expect(url.searchParams.get('page')).to.equal('2');
    }
    expect(sent()).to.have.length(forged.length);
  });

  it('after the tool has got an input that the overlay does not include', async () => {
    const tool = ownTool(keyed.provider.identifier, 'acme_get_pinned');
    await storeTools(server, [tool]);
    await setOverlay(server, tool.name, { preset_inputs: { number: 1 } });
    expect((await execute(server, keyed.id, tool.name)).status).to.equal(200);
    const properties = { ...(tool.input_schema['properties'] as object), path: { type: 'string' } };
    const request = { method: 'GET' as const, path: '/things/{number}{/path}' };
    await storeTools(server, [{ ...tool, input_schema: { ...tool.input_schema, properties }, request }]);
    const answer = await execute(server, keyed.id, tool.name, { path: 'secret' });
    expect(answer.body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
    const listed = await server.call('GET', `/api/v1/tools?connector=${keyed.provider.identifier}`);
    expect(listed.body.tools.map(({ name }: { name: string }) => name)).not.to.include(tool.name);
    await setOverlay(server, tool.name, { preset_inputs: { number: 1 } });
    expect((await execute(server, keyed.id, tool.name, { path: 'known' })).status).to.equal(200);
  });

  it('by an input of an open schema that has the name of a preset one', async () => {
    const input_schema = { type: 'object', additionalProperties: true, properties: { number: { type: 'integer' } } };
    await storeTools(server, [ownTool(keyed.provider.identifier, 'acme_get_open', { input_schema })]);
    await setOverlay(server, 'acme_get_open', { preset_inputs: { number: 1 } });
    const answer = await execute(server, keyed.id, 'acme_get_open', { number: 2 });
    expect(answer.body.errors[0].field).to.equal('tool_input.number');
  });

  it('by the name of a tool that another tool was given', async () => {
    await storeTools(server, [ownTool(keyed.provider.identifier, 'acme_get_named')]);
    await setOverlay(server, 'acme_get_named', { new_name: 'acme_get_shown', hidden: true });
    for (const name of ['acme_get_named', 'acme_get_shown']) {
      expect((await execute(server, keyed.id, name, { number: 1 })).body.code, name).to.equal('TOOL_NOT_ALLOWED');
    }
  });

  it('by a stored tool that claims to be restricted already', async () => {
    const restriction = { toolName: 'github_create_issue', presetInputs: { number: 9 }, schema: {} };
    await storeTools(server, [ownTool(keyed.provider.identifier, 'acme_get_claiming', { restriction })]);
    await execute(server, keyed.id, 'acme_get_claiming', { number: 3 });
    expect(sent()).to.deep.equal(['/things/3']);
  });

  it('without the scope to change tools', async () => {
    const path = `${OVERLAYS_PATH}/${LIST}`;
    const client = await createApiClient(server, ['tools:read', 'tools:execute']);
    const token = (await client.requestToken()).body.access_token;
    expect((await server.call('GET', path, { token })).status).to.equal(200);
    expect((await server.call('DELETE', path, { token })).status).to.equal(403);
    expect((await server.call('PUT', path, { token, body: { hidden: true } })).status).to.equal(403);
  });
});
