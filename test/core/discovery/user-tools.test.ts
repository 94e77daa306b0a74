import { expect } from 'chai';
import { callableTools } from '../../../core/discovery/user-tools.ts';
import type { AccountStatus } from '../../../db/store.ts';
import { createAccount, createOAuthAccount, setAccountStatus } from '../../support/accounts.ts';
import { ownTool, storeTools } from '../../support/own-tools.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../../support/providers.ts';
import type { TestServer } from '../../support/server.ts';
import { startTestServer } from '../../support/server.ts';
import { firstEnvironment } from '../../support/tokens.ts';

describe('the tools of one user', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const callable = async (userId: string) => {
    const { id } = await firstEnvironment(server);
    return callableTools(server.parts.store.read, server.parts, id, { userId });
  };
  const oauth = (userId: string, connector: string, scopes?: string[]) =>
    createOAuthAccount(server, userId, connector, scopes);
  const setStatus = (id: string, status: AccountStatus) => setAccountStatus(server, id, status);
  const slack = (fields: Record<string, unknown> = {}) =>
    createConnection(server, { connector: 'slack', client_id: 'c', client_secret: 's', ...fields });

  it('lists the tools that can be called now: environment tools, generic tools with accounts of a custom provider, none with an error', async () => {
    const provider = await createProvider(server, { auth_patterns: [API_KEY_PATTERN] });
    await storeTools(server, [ownTool(provider.identifier, 'mine_get_thing')]);
    await storeTools(server, [ownTool(provider.identifier, 'mine_get_flagged')], { flagged: 'changed' });
    const keyed = (identifier: string) =>
      createAccount(server, {
        connector: provider.identifier,
        userId: 'caller',
        identifier,
        connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'k' } } } },
      });
    const accounts = [await keyed('one'), await keyed('two')];
    const found = await callable('caller');
    expect(found.map(({ tool }) => tool.name)).to.deep.equal([
      'http_delete',
      'http_get',
      'http_patch',
      'http_post',
      'http_put',
      'mine_get_thing',
    ]);
    for (const { accounts: able } of found) {
      expect(able.map(({ id }) => id)).to.deep.equal(accounts.map(({ id }) => id));
    }
  });

  it('lists nothing for accounts that are not active or lack the scopes, or whose connection is disabled or does not allow the tool', async () => {
    const { key_id: keyId, id: connectionId } = await slack();
    const account = await oauth('ups-and-downs', keyId, ['chat:write']);
    const names = async () => (await callable('ups-and-downs')).map(({ tool }) => tool.name);
    expect(await names())
      .to.include('slack_send_message')
      .and.not.include('slack_list_channels');
    await server.call('POST', `/api/v1/connections/${connectionId}:disable`);
    expect(await names()).to.deep.equal([]);
    await server.call('POST', `/api/v1/connections/${connectionId}:enable`);
    expect(await names()).to.include('slack_send_message');
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { allowed_tools: ['slack_get_user'] } });
    expect(await names()).to.not.include('slack_send_message');
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { allowed_tools: null } });
    expect(await names()).to.include('slack_send_message');
    await setStatus(account.id, 'EXPIRED');
    expect(await names()).to.deep.equal([]);
  });
});
