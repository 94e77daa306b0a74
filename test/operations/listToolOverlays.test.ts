import { expect } from 'chai';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, setOverlay } from '../support/tool-overlays.ts';

describe('listToolOverlays', () => {
  let server: TestServer;
  const TOOLS = ['github_create_issue', 'github_get_issue', 'slack_list_channels'];

  before(async () => {
    server = await startTestServer();
    for (const name of TOOLS.toReversed()) await setOverlay(server, name, { hidden: true });
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns pages of overlays, sorted by the names of their tools', async () => {
      const first = (await server.call('GET', `${OVERLAYS_PATH}?page_size=2`)).body;
      const second = (await server.call('GET', `${OVERLAYS_PATH}?page_size=2&page_token=${first.next_page_token}`))
        .body;
      const names = [...first.overlays, ...second.overlays].map(({ tool_name }) => tool_name);
      expect(names).to.deep.equal(TOOLS);
      expect([first.total_size, second.next_page_token]).to.deep.equal([3, '']);
    });

    it('returns no overlays of another environment', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', OVERLAYS_PATH)).body).to.deep.include({ overlays: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('rejects a forged page token', async () => {
      expect((await server.call('GET', `${OVERLAYS_PATH}?page_token=x`)).status).to.equal(400);
    });
  });
});
