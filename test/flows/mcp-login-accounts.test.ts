import type { CallToolResult } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { accountOf, allowVerifyUrls, typeKey, VERIFY_URL, verifyUser } from '../support/links.ts';
import { connectMcp } from '../support/mcp.ts';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const ORIGIN = 'https://api.acme.example';
const CALL = { name: 'acme_get_thing', arguments: { number: 7 } };

describe('a user who has logged in for an MCP client', () => {
  let world: LoginWorld;
  let upstream: Upstream;
  let connectionId: string;

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, { id: 7 }));
    world = await startLoginWorld({ env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ORIGIN) } });
    const { server } = world;
    await allowVerifyUrls(server, VERIFY_URL);
    const names = { display_name: 'Acme Things', proxy_enabled: true, proxy_url: ORIGIN };
    const provider = await createProvider(server, names);
    connectionId = (await createConnection(server, { connector: provider.identifier })).id;
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_thing')]);
  });
  after(async () => {
    await world.stop();
    await upstream.stop();
  });

  /** The tokens of a login for the server of a connection or config. */
  async function tokensFor(serverId: string, identifier: string) {
    const resource = `${world.server.origin}/mcp/${serverId}`;
    const user = { user_id: identifier, identifier, user_verify_url: VERIFY_URL };
    const answer = await world.exchange(await world.login({ resource }, user), { resource });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body as { access_token: string; refresh_token: string };
  }

  /** Calls the tool. If the user has no account yet, connects one during the call. */
  async function callTool(identifier: string, accessToken: string) {
    const asked: string[] = [];
    const client = await connectMcp(world.server, connectionId, accessToken, {
      onLink: async ({ url }) => {
        asked.push(url);
        const { authRequestId } = await typeKey(url);
        expect((await verifyUser(world.server, authRequestId, identifier)).status).to.equal(200);
        return 'accept';
      },
    });
    const result = (await client.callTool(CALL)) as CallToolResult;
    await client.close();
    return { result, asked };
  }

  it('connects a missing account by the same link, and receives the result of the call (X4)', async () => {
    const { access_token } = await tokensFor(connectionId, 'carol');
    const { result, asked } = await callTool('carol', access_token);
    expect(asked).to.have.lengthOf(1);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
    expect((result.structuredContent as any).data).to.deep.equal({ id: 7 });
    expect((await accountOf(world.server, 'carol'))?.status).to.equal('ACTIVE');
  });

  it('is identified by the grant in executions and in the audit log', async () => {
    const { access_token } = await tokensFor(connectionId, 'dave');
    await callTool('dave', access_token);
    const [grant] = await world.grants('?user_id=dave');
    const account = await accountOf(world.server, 'dave');
    const list = await world.server.call('GET', `/api/v1/executions?connected_account_id=${account?.id}`);
    expect(list.body.executions).to.have.lengthOf(1);
    const actors = (await auditOf(world.server, account?.id as string)).map(({ actor }) => actor);
    expect(actors).to.include(grant?.id);
  });

  it('loses the grant when the last account is deleted, and not earlier', async () => {
    const { server } = world;
    const tokens = await tokensFor(connectionId, 'erin');
    await callTool('erin', tokens.access_token);
    const body = { connector: 'slack', user_id: 'erin', identifier: 'erin' };
    const other = await server.call('POST', '/api/v1/connected_accounts', { body });
    expect(other.status, other.text).to.equal(201);
    const [grant] = await world.grants('?user_id=erin');
    const remove = (id: string) => server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
    const accounts = (await server.call('GET', '/api/v1/connected_accounts?user_id=erin')).body.connected_accounts;
    expect(accounts).to.have.lengthOf(2);
    await remove(accounts[0].id);
    expect((await world.listTools(tokens.access_token, connectionId)).status, 'one account is left').to.equal(200);
    await remove(accounts[1].id);
    expect((await world.listTools(tokens.access_token, connectionId)).status).to.equal(401);
    expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
    const [end] = await auditOf(server, grant?.id as string);
    expect(end?.details).to.deep.equal({ reason: 'USER_DELETED' });
  });

  it('keeps the grant when an account of another user with the same identifier is deleted', async () => {
    const { server } = world;
    const tokens = await tokensFor(connectionId, 'frank');
    const body = { connector: 'slack', user_id: 'not-frank', identifier: 'frank' };
    const { id } = (await server.call('POST', '/api/v1/connected_accounts', { body })).body.connected_account;
    await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
    expect((await world.listTools(tokens.access_token, connectionId)).status).to.equal(200);
  });

  it('loses the grant when the config or the connection of its server is deleted', async () => {
    const { server } = world;
    const mappings = [{ connection_id: connectionId }];
    const made = await server.call('POST', '/api/v1/mcp/configs', { body: { name: 'Desk', mappings } });
    const free = (await createConnection(server, { connector: 'slack' })).id as string;
    const configId = made.body.config.id as string;
    for (const [serverId, path] of [
      [configId, `/api/v1/mcp/configs/${configId}`],
      [free, `/api/v1/connections/${free}`],
    ] as const) {
      const tokens = await tokensFor(serverId, 'grace');
      const [grant] = await world.grants(`?server_id=${serverId}`);
      expect((await world.listTools(tokens.access_token, serverId)).status, 'the control').to.equal(200);
      expect((await server.call('DELETE', path)).status).to.equal(200);
      expect((await world.listTools(tokens.access_token, serverId)).status).to.equal(401);
      expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect(await world.grants(`?server_id=${serverId}`)).to.deep.equal([]);
      const [end] = await auditOf(server, grant?.id as string);
      expect(end?.details).to.deep.equal({ reason: 'SERVER_DELETED' });
    }
  });
});
