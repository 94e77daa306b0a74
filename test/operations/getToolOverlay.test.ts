import { expect } from 'chai';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, setOverlay } from '../support/tool-overlays.ts';

describe('getToolOverlay', () => {
  let server: TestServer;
  let connector: string;

  const get = (name: string) => server.call('GET', `${OVERLAYS_PATH}/${name}`);

  before(async () => {
    server = await startTestServer();
    connector = (await createProvider(server)).identifier;
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns the overlay as it was set', async () => {
      const set = await setOverlay(server, 'github_create_issue', { new_name: 'report_bug' });
      expect((await get('github_create_issue')).body).to.deep.equal(set.body);
    });

    it('reports that the tool has changed, unless only its descriptions have', async () => {
      const tool = ownTool(connector, 'mine_get_changing');
      await storeTools(server, [tool]);
      await setOverlay(server, tool.name, { preset_inputs: { number: 1 } });
      const number = { type: 'integer', minimum: 1, description: 'Another description.' };
      const described = { ...tool.input_schema, properties: { number } };
      await storeTools(server, [{ ...tool, description: 'Something else.', input_schema: described }]);
      expect((await get(tool.name)).body.overlay.status).to.equal('ACTIVE');
      const wider = { ...tool.input_schema, properties: { number, other: { type: 'integer' } } };
      await storeTools(server, [{ ...tool, input_schema: wider }]);
      expect((await get(tool.name)).body.overlay).to.include({ status: 'TOOL_CHANGED' });
      expect((await get(tool.name)).body.overlay.status_reason).to.be.a('string');
    });

    it('reports that the tool is missing', async () => {
      await storeTools(server, [ownTool(connector, 'mine_get_lost')]);
      await setOverlay(server, 'mine_get_lost', { hidden: true });
      await server.call('DELETE', '/api/v1/tools/mine_get_lost');
      expect((await get('mine_get_lost')).body.overlay.status).to.equal('TOOL_MISSING');
    });

    it('reports that another tool has the new name', async () => {
      await setOverlay(server, 'github_get_issue', { new_name: 'mine_get_name' });
      await storeTools(server, [ownTool(connector, 'mine_get_name')]);
      expect((await get('github_get_issue')).body.overlay.status).to.equal('NAME_TAKEN');
    });
  });

  describe('404', () => {
    it('is returned for a tool without an overlay', async () => {
      expect((await get('slack_list_channels')).body.code).to.equal('NOT_FOUND');
    });
  });
});
