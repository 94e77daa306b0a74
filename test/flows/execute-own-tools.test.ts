import { expect } from 'chai';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe("an environment's own tools", () => {
  let acme: Upstream;
  let server: TestServer;

  before(async () => {
    acme = await startUpstream((request, res) => json(res, 200, { target: request.target }));
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  it('run with the accounts of their provider, below its proxy_url, beside the generic ones', async () => {
    const { id, provider } = await createKeyedAccount(server, { path: '/v2' });
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_thing')]);
    const answer = await execute(server, id, 'acme_get_thing', { number: 7 });
    expect(answer.body.data, answer.text).to.deep.equal({ target: '/v2/things/7' });
    const generic = await execute(server, id, 'http_get', { path: '/other' });
    expect(generic.body.data, generic.text).to.deep.equal({ target: '/v2/other' });
  });

  it('check their input before anything is sent', async () => {
    const { id, provider } = await createKeyedAccount(server);
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_checked')]);
    const sent = acme.requests.length;
    const answer = await execute(server, id, 'acme_get_checked', { number: 0 });
    expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
    expect(acme.requests).to.have.length(sent);
  });

  it('run in their current version, also when an earlier one was run before', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const tool = ownTool(provider.identifier, 'acme_get_changing');
    await storeTools(server, [tool]);
    await execute(server, id, tool.name, { number: 7 });
    await storeTools(server, [{ ...tool, request: { method: 'GET', path: '/new/{number}' } }]);
    expect((await execute(server, id, tool.name, { number: 7 })).body.data).to.deep.equal({ target: '/new/7' });
    const closed = {
      ...tool.input_schema,
      properties: { number: { type: 'integer', maximum: 3, description: 'Few.' } },
    };
    await storeTools(server, [{ ...tool, input_schema: closed }]);
    expect((await execute(server, id, tool.name, { number: 7 })).body.code).to.equal('INVALID_TOOL_INPUT');
  });

  it('are not found with accounts of another provider, nor in another environment', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const other = await createKeyedAccount(server);
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_mine')]);
    expect((await execute(server, id, 'acme_get_mine', { number: 1 })).status).to.equal(200);
    expect((await execute(server, other.id, 'acme_get_mine', { number: 1 })).status).to.equal(404);

    const second = await addSecondEnvironment(server);
    const foreign = await createKeyedAccount(second);
    const twin = ownTool(foreign.provider.identifier, 'acme_get_mine', {
      request: { method: 'GET', path: '/foreign/{number}' },
    });
    expect((await execute(second, foreign.id, 'acme_get_mine', { number: 1 })).status).to.equal(404);
    await storeTools(server, [twin], { environment: second.environment.id });
    expect((await execute(second, foreign.id, 'acme_get_mine', { number: 1 })).body.data).to.deep.equal({
      target: '/foreign/1',
    });
    expect((await execute(server, id, 'acme_get_mine', { number: 1 })).body.data).to.deep.equal({
      target: '/things/1',
    });
  });

  it('never replace a tool of the catalogue, even if one of the same name is stored', async () => {
    const { id, provider } = await createKeyedAccount(server);
    await storeTools(server, [ownTool(provider.identifier, 'http_get')]);
    expect((await execute(server, id, 'http_get', { path: '/real' })).body.data).to.deep.equal({ target: '/real' });
  });

  it('cannot run until they are reviewed if they need a review', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const tools = [ownTool(provider.identifier, 'acme_get_flagged')];
    await storeTools(server, tools, { flagged: 'Its description was changed.' });
    const answer = await execute(server, id, 'acme_get_flagged', { number: 1 });
    expect(answer.body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
    expect(answer.body.detail).to.include('Its description was changed.');
    await storeTools(server, tools);
    expect((await execute(server, id, 'acme_get_flagged', { number: 1 })).status).to.equal(200);
  });

  it('can be allowed per connection, by name', async () => {
    const { id, account, provider } = await createKeyedAccount(server);
    await storeTools(server, [
      ownTool(provider.identifier, 'acme_get_one'),
      ownTool(provider.identifier, 'acme_get_two'),
    ]);
    const allow = (...names: string[]) =>
      server.call('PUT', `/api/v1/connections/${account.connection_id}`, { body: { allowed_tools: names } });
    expect((await allow('acme_get_one')).status).to.equal(200);
    expect((await execute(server, id, 'acme_get_one', { number: 1 })).status).to.equal(200);
    expect((await execute(server, id, 'acme_get_two', { number: 1 })).body.code).to.equal('TOOL_NOT_ALLOWED');
    const refused = await allow('acme_get_one', 'acme_get_nothing');
    expect(refused.body.errors).to.deep.equal([
      { field: 'allowed_tools[1]', message: 'is not the name of a tool of this connector: acme_get_nothing' },
    ]);
  });

  it('are deleted with their provider', async () => {
    const { provider } = await createKeyedAccount(server);
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_gone')]);
    await server.call('DELETE', `/api/v1/custom-providers/${provider.identifier}`);
    const { read } = server.parts.store;
    const [environment] = await read.environments.list();
    if (!environment) throw new Error('no environment');
    expect(await read.environmentTools.get(environment.id, 'acme_get_gone')).to.equal(undefined);
  });
});
