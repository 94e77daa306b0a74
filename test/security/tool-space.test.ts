import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { ownTool, storeTools, toolBody } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import { listed } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';
import { firstEnvironment } from '../support/tokens.ts';

/**
 * The number of tools is limited, because all tools of an environment are indexed for searches, and the names of a
 * provider's tools are read together.
 */
describe('L7: an environment at its limit of tools', () => {
  let world: RawMcpWorld;
  let connector: string;

  const nameOf = (name: string) => `${connector.replaceAll('-', '_')}_${name}`;
  const create = (name: string) =>
    world.server.call('POST', '/api/v1/tools', {
      body: toolBody(connector, name, { description: `Reads the thing ${name} by its number. Changes nothing.` }),
    });
  const importOne = (fields: object = {}) => {
    const operation = {
      operationId: 'listCustomers',
      summary: 'List customers',
      responses: { 200: { description: 'ok' } },
    };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Acme', version: '1' },
      servers: [{ url: 'https://api.acme.example' }],
      paths: { '/customers': { get: operation } },
    };
    const files = [{ name: 'openapi.json', content: JSON.stringify(document) }];
    return world.server.call('POST', '/api/v1/tools:import', {
      body: { connector: 'acme', files, apply: true, ...fields },
    });
  };

  before(async () => {
    world = await startRawMcpWorld();
    const { server } = world;
    ({ identifier: connector } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: 'https://api.example',
    }));
    const { id } = await firstEnvironment(server);
    const present = await server.parts.store.read.environmentTools.count(id);
    const names = Array.from({ length: STORED.tools - present - 1 }, (_, index) => `filler_${index}`);
    await storeTools(
      server,
      names.map((name) => ownTool(connector, name)),
    );
  });
  after(() => world.stop());

  it('accepts no further tool, from any source', async () => {
    const control = await create(nameOf('last_one'));
    expect(control.status, control.text).to.equal(201);
    for (const refused of [await create(nameOf('one_more')), await importOne()]) {
      expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(refused.body.detail).to.include('at most 20000');
    }
    world.upstream.tools = [listed('read')];
    const { body } = await world.provider.sync();
    expect([body.added, body.left_out]).to.deep.equal([
      [],
      [
        {
          tool: 'read',
          reason: 'the environment already has 20000 tools, the maximum; delete tools that are not used',
        },
      ],
    ]);
    const update = await world.server.call('PUT', `/api/v1/tools/${nameOf('last_one')}`, { body: { title: 'Other' } });
    expect(update.status, update.text).to.equal(200);
    expect((await world.server.call('DELETE', `/api/v1/tools/${nameOf('last_one')}`)).status).to.equal(200);
    expect((await importOne()).status).to.equal(200);
    expect((await importOne()).status, 'the same again').to.equal(200);
  });
});
