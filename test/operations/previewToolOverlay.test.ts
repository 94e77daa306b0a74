import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, removeOverlay, setOverlay } from '../support/tool-overlays.ts';

const TOOL = 'github_create_issue';
const OVERLAY = {
  new_name: 'report_bug',
  title: 'Report a bug',
  added_description: 'Use it for bugs of the shop only.',
  preset_inputs: { owner: 'acme', repo: 'shop' },
  allowed_values: { labels: ['bug', 'regression'] },
};

describe('previewToolOverlay', () => {
  let server: TestServer;

  const preview = (body: Record<string, unknown>, name = TOOL) =>
    server.call('POST', `${OVERLAYS_PATH}/${name}:preview`, { body });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns the tool as callers see it once the overlay is set', async () => {
      const before = (await server.call('GET', `/api/v1/tools/${TOOL}`)).body.tool;
      const answer = await preview(OVERLAY);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.tool).to.deep.equal(before);
      await setOverlay(server, TOOL, OVERLAY);
      const after = (await server.call('GET', '/api/v1/tools/report_bug')).body.tool;
      expect(answer.body.shown_tool).to.deep.equal(after);
      await removeOverlay(server, TOOL);
    });

    it('stores nothing', async () => {
      const before = await auditOf(server, TOOL);
      await preview(OVERLAY);
      expect(await auditOf(server, TOOL)).to.deep.equal(before);
      expect((await server.call('GET', `${OVERLAYS_PATH}/${TOOL}`)).status).to.equal(404);
      expect((await server.call('GET', '/api/v1/tools/report_bug')).status).to.equal(404);
    });

    it('returns the definition of a tool that its present overlay renames and restricts', async () => {
      const before = (await server.call('GET', `/api/v1/tools/${TOOL}`)).body.tool;
      await setOverlay(server, TOOL, OVERLAY);
      const { tool, shown_tool: shown } = (await preview({})).body;
      expect(tool).to.deep.equal(before);
      expect(shown).to.deep.equal(before);
      expect((await preview({ new_name: 'report_bug' })).status).to.equal(200);
      await removeOverlay(server, TOOL);
    });

    it('returns no tool for callers if the overlay hides it', async () => {
      const { body } = await preview({ hidden: true });
      expect(body.tool.name).to.equal(TOOL);
      expect(body).not.to.have.property('shown_tool');
    });
  });

  describe('400', () => {
    it('names the fields that do not fit the tool, as setToolOverlay does', async () => {
      for (const body of [
        { preset_inputs: { ower: 'acme' } },
        { allowed_values: { labels: ['bug', ''] } },
        { new_name: TOOL },
        { title: 'Good\u202e' },
        { colour: 'red' },
      ]) {
        const answer = await preview(body);
        const set = await server.call('PUT', `${OVERLAYS_PATH}/${TOOL}`, { body });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.body.errors).to.deep.equal(set.body.errors);
      }
    });
  });

  describe('404', () => {
    it('does not know the tool', async () => {
      expect((await preview({ hidden: true }, 'github_do_nothing')).body.code).to.equal('NOT_FOUND');
    });

    it('does not find a tool of another environment', async () => {
      const other = await addSecondEnvironment(server);
      const { identifier } = await createProvider(server);
      await storeTools(server, [ownTool(identifier, 'mine_get_thing')]);
      const body = { hidden: true };
      expect((await preview(body, 'mine_get_thing')).status).to.equal(200);
      const answer = await other.call('POST', `${OVERLAYS_PATH}/mine_get_thing:preview`, { body });
      expect(answer.status).to.equal(404);
    });
  });

  describe('409', () => {
    it('rejects a name that a tool or another overlay has', async () => {
      expect((await preview({ new_name: 'slack_list_channels' })).body.code).to.equal('TOOL_EXISTS');
      await setOverlay(server, 'github_get_issue', { new_name: 'read_bug' });
      expect((await preview({ new_name: 'read_bug' })).body.code).to.equal('TOOL_EXISTS');
      await removeOverlay(server, 'github_get_issue');
    });
  });
});
