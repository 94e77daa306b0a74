import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, removeOverlay, setOverlay } from '../support/tool-overlays.ts';

const TOOL = 'github_create_issue';

describe('deleteToolOverlay', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('shows the tool with its original definition again', async () => {
      const read = async () => (await server.call('GET', `/api/v1/tools/${TOOL}`)).body;
      const before = await read();
      await setOverlay(server, TOOL, { preset_inputs: { owner: 'acme' }, title: 'Report' });
      expect(await read()).not.to.deep.equal(before);
      const answer = await removeOverlay(server, TOOL);
      expect([answer.status, answer.text]).to.deep.equal([200, '{}\n']);
      expect(await read()).to.deep.equal(before);
      expect((await server.call('GET', `${OVERLAYS_PATH}/${TOOL}`)).status).to.equal(404);
      const actions = (await auditOf(server, TOOL)).map(({ action }) => action);
      expect(actions).to.deep.equal(['tool_overlay.deleted', 'tool_overlay.updated']);
    });
  });

  describe('404', () => {
    it('is returned for a tool without an overlay', async () => {
      expect((await removeOverlay(server, 'slack_list_channels')).body.code).to.equal('NOT_FOUND');
    });
  });
});
