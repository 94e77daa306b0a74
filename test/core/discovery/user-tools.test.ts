import { expect } from 'chai';
import { callableTools, toolsOverConnections } from '../../../core/discovery/user-tools.ts';
import type { AccountStatus } from '../../../db/store.ts';
import { createAccount } from '../../support/accounts.ts';
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

  const over = async (userId: string, ...choices: { keyId: string; tools?: string[] }[]) => {
    const { id } = await firstEnvironment(server);
    return toolsOverConnections(server.parts.store.read, server.parts, id, { userId, identifier: userId }, choices);
  };
  const callable = async (userId: string) => {
    const { id } = await firstEnvironment(server);
    return callableTools(server.parts.store.read, server.parts, id, { userId });
  };
  const oauth = (userId: string, connector: string, scopes?: string[]) =>
    createAccount(server, {
      connector,
      userId,
      identifier: userId,
      connectedAccount: { authorization_details: { oauth_token: { access_token: 'at', ...(scopes && { scopes }) } } },
    });
  const setStatus = async (id: string, status: AccountStatus) => {
    const { id: environmentId } = await firstEnvironment(server);
    const change = { status, reason: null, updatedAt: server.parts.now() };
    await server.parts.store.write((tx) => tx.accounts.setStatus(environmentId, id, ['ACTIVE'], change));
  };
  const slack = (fields: Record<string, unknown> = {}) =>
    createConnection(server, { connector: 'slack', client_id: 'c', client_secret: 's', ...fields });
  const one = ['slack_send_message'];

  it('says READY with the account that has every scope', async () => {
    const { key_id: keyId } = await slack();
    const account = await oauth('ready', keyId, ['chat:write', 'channels:read']);
    const [offer] = await over('ready', { keyId, tools: one });
    expect(offer).to.include({ readiness: 'READY', next: null });
    expect(offer?.account?.id).to.equal(account.id);
  });

  it('suggests a link if the user has no account, with every known field', async () => {
    const { key_id: keyId } = await slack();
    const [offer] = await over('stranger', { keyId, tools: one });
    expect(offer).to.deep.include({ readiness: 'NEEDS_CONNECTION', account: null });
    expect(offer?.next).to.deep.include({
      operationId: 'generateMagicLink',
      arguments: { connector: keyId, identifier: 'stranger', user_id: 'stranger' },
    });
  });

  for (const [status, readiness, operationId] of [
    ['EXPIRED', 'NEEDS_REAUTH', 'generateMagicLink'],
    ['DISCONNECTED', 'NEEDS_REAUTH', 'generateMagicLink'],
    ['PENDING_AUTH', 'NEEDS_CONNECTION', 'generateMagicLink'],
    ['PENDING_VERIFICATION', 'NEEDS_CONNECTION', 'verifyUser'],
  ] as const) {
    it(`says ${readiness} for an account that is ${status}`, async () => {
      const { key_id: keyId } = await slack();
      const { id } = await oauth(`user-${status}`, keyId);
      await setStatus(id, status);
      const [offer] = await over(`user-${status}`, { keyId, tools: one });
      expect(offer?.readiness).to.equal(readiness);
      expect(offer?.next?.operationId).to.equal(operationId);
      // The message is for users and contains no names of statuses (X14).
      expect(offer?.next?.message).not.to.match(/[A-Z]{2,}/);
      if (operationId === 'generateMagicLink') expect(offer?.next?.arguments).to.deep.equal({ id });
    });
  }

  it('returns the scopes that a consent lacked, and none if the granted scopes are unknown', async () => {
    const { key_id: keyId } = await slack();
    await oauth('narrow', keyId, ['channels:read']);
    const [offer] = await over('narrow', { keyId, tools: one });
    expect(offer).to.deep.include({ readiness: 'NEEDS_REAUTH', missingScopes: ['chat:write'] });
    expect(offer?.next?.message).to.include('chat:write');
    await oauth('unknown-scopes', keyId);
    expect((await over('unknown-scopes', { keyId, tools: one }))[0]?.readiness).to.equal('READY');
  });

  it('reports that an operator has to complete a connection without a client', async () => {
    const { key_id: keyId, id } = await createConnection(server, { connector: 'slack' });
    const [offer] = await over('nobody', { keyId, tools: one });
    expect(offer?.next).to.deep.include({ operationId: 'updateConnection', arguments: { connection_id: id } });
  });

  it('shows what a connection allows, and nothing for one that is disabled or unknown', async () => {
    const { key_id: keyId } = await slack({ allowed_tools: ['slack_send_message', 'slack_list_channels'] });
    const names = (await over('u', { keyId }, { keyId: 'unknown' })).map(({ tool }) => tool.name);
    expect(names).to.deep.equal(['slack_list_channels', 'slack_send_message']);
    const { key_id: off } = await slack({ enabled: false });
    expect(await over('u', { keyId: off })).to.deep.equal([]);
  });

  it('sorts by tool and connection, regardless of the requested order', async () => {
    const [{ key_id: a }, { key_id: b }] = [await slack({ key_id: 'order-a' }), await slack({ key_id: 'order-b' })];
    const tools = ['slack_send_message', 'slack_add_reaction'];
    const offers = await over('u', { keyId: b, tools }, { keyId: a, tools });
    expect(offers.map(({ tool, connection }) => [tool.name, connection.keyId])).to.deep.equal([
      ['slack_add_reaction', 'order-a'],
      ['slack_add_reaction', 'order-b'],
      ['slack_send_message', 'order-a'],
      ['slack_send_message', 'order-b'],
    ]);
  });

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

  it('lists nothing for accounts that are not active or lack the scopes, or whose connection is disabled', async () => {
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
    await setStatus(account.id, 'EXPIRED');
    expect(await names()).to.deep.equal([]);
  });
});
