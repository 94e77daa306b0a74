import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools';

describe('deleteTool', () => {
  let server: TestServer;
  let connector: string;

  const remove = (name: string) => server.call('DELETE', `${PATH}/${name}`);

  before(async () => {
    server = await startTestServer();
    connector = (await createProvider(server)).identifier;
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns an empty object, and the tool is no longer listed', async () => {
      await storeTools(server, [ownTool(connector, 'mine_get_gone'), ownTool(connector, 'mine_get_kept')]);
      const names = async () =>
        (await server.call('GET', `${PATH}?connector=${connector}`)).body.tools.map(
          ({ name }: { name: string }) => name,
        );
      expect(await names()).to.deep.equal(['mine_get_gone', 'mine_get_kept']);
      const answer = await remove('mine_get_gone');
      expect([answer.status, answer.text]).to.deep.equal([200, '{}\n']);
      expect(await names()).to.deep.equal(['mine_get_kept']);
      expect((await server.call('GET', `${PATH}/mine_get_gone`)).status).to.equal(404);
      expect((await auditOf(server, 'mine_get_gone')).map(({ action }) => action)).to.deep.equal(['tool.deleted']);
    });

    it('deletes an imported tool as well', async () => {
      await storeTools(server, [ownTool(connector, 'mine_imported')], { source: 'import', sourceId: 'x' });
      expect((await remove('mine_imported')).status).to.equal(200);
    });
  });

  describe('404', () => {
    it('rejects an unknown tool', async () => {
      expect((await remove('mine_get_nothing')).body.code).to.equal('NOT_FOUND');
    });
  });

  describe('409', () => {
    it('TOOL_IN_USE with the names of the connections, until they no longer list it', async () => {
      await storeTools(server, [ownTool(connector, 'mine_get_used')]);
      const body = { allowed_tools: ['mine_get_used'] };
      const { id } = await createConnection(server, { connector, key_id: 'one-user', ...body });
      await createConnection(server, { connector, key_id: 'free' });
      const answer = await remove('mine_get_used');
      expect(answer.body).to.include({ status: 409, code: 'TOOL_IN_USE' });
      expect(answer.body.detail).to.include('one-user').and.not.to.include('free');
      await server.call('PUT', `/api/v1/connections/${id}`, { body: { allowed_tools: null } });
      expect((await remove('mine_get_used')).status).to.equal(200);
    });

    it('TOOL_IN_USE with the names of the MCP configs, until they no longer list it', async () => {
      await storeTools(server, [ownTool(connector, 'mine_get_offered'), ownTool(connector, 'mine_get_other')]);
      const { id } = await createConnection(server, { connector, key_id: 'offered' });
      const config = (name: string, tools: string[]) => ({ name, mappings: [{ connection_id: id, tools }] });
      const names = ['mine_get_other', 'mine_get_offered'];
      const made = await server.call('POST', '/api/v1/mcp/configs', { body: config('Support', names) });
      await server.call('POST', '/api/v1/mcp/configs', { body: config('Free', ['mine_get_other']) });
      const answer = await remove('mine_get_offered');
      expect(answer.body).to.include({ status: 409, code: 'TOOL_IN_USE' });
      expect(answer.body.detail).to.include('Support').and.not.to.include('Free');
      await server.call('DELETE', `/api/v1/mcp/configs/${made.body.config.id}`);
      expect((await remove('mine_get_offered')).status).to.equal(200);
    });

    it('TOOL_READ_ONLY for a tool of the catalogue', async () => {
      expect((await remove('github_create_issue')).body).to.include({ status: 409, code: 'TOOL_READ_ONLY' });
    });
  });
});
