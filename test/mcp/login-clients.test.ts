import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import { ADA, callMcp, type LoginWorld, REDIRECT_URI, responseOf, startLoginWorld } from '../support/mcp-login.ts';
import { KeptLogin, LINES, logInAt } from '../support/sdk-logins.ts';

const WAYS = ['a metadata document', 'registration', 'an id from the administrator'] as const;

describe('clients of the SDKs log in by themselves (X2)', () => {
  let world: LoginWorld;

  beforeEach(async () => {
    world = await startLoginWorld();
  });
  afterEach(() => world.stop());

  async function loginBy(way: (typeof WAYS)[number]): Promise<KeptLogin> {
    if (way === 'a metadata document') return new KeptLogin({ clientMetadataUrl: world.documents.clientId });
    if (way === 'registration') return new KeptLogin({});
    const body = { name: 'SDK Client', redirect_uris: [REDIRECT_URI] };
    const { client } = (await world.server.call('POST', '/api/v1/mcp/clients', { body })).body;
    return new KeptLogin({ information: { client_id: client.id } });
  }

  it('a session of the revision 2025-11-25 continues after the user has logged in again', async () => {
    const begin = (token: string, headers: Record<string, string>, method = 'initialize') => {
      const clientInfo = { name: 'test', version: '1' };
      const params = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } : {};
      return callMcp(world.server, world.serverId, token, method, params, headers);
    };
    const first = await world.tokens();
    const session = (await begin(first.access_token, {})).headers['mcp-session-id'] as string;
    expect(session).to.be.a('string');
    await world.server.call('POST', '/api/v1/mcp/grants:revoke', { body: ADA });
    const second = await world.tokens();
    const headers = { 'mcp-session-id': session };
    expect((await begin(second.access_token, headers, 'tools/list')).status).to.equal(200);
    const other = await world.tokens({}, { user_id: 'user_eve', identifier: 'eve' });
    expect((await begin(other.access_token, headers, 'tools/list')).status, 'of another user').to.equal(404);
  });

  for (const [name, line] of Object.entries(LINES)) {
    for (const way of WAYS) {
      it(`${name} by ${way}: login, tools, refresh, revocation, and login again`, async () => {
        const url = new URL(world.resource);
        const login = await loginBy(way);
        const connectAgain = async () => {
          const failure = await line.connect(url, login).catch((error: unknown) => error);
          expect(line.isLoginNeeded(failure), String(failure)).to.equal(true);
          await line.finish(url, login, await logInAt(world, login.sentTo.at(-1) as URL));
          return line.connect(url, login);
        };
        const client = await connectAgain();
        const names = (await client.listTools()).tools.map((tool) => tool.name);
        expect(names).to.include('github_list_issues');
        expect(login.kept.refresh_token).to.match(/^vkr_/);

        const before = login.kept.access_token;
        world.clock.advance(15 * 60_000);
        // Connects again, because a client may cache the list of its first connection.
        const refreshed = await line.connect(url, login);
        expect((await refreshed.listTools()).tools).to.have.lengthOf(names.length);
        expect(login.kept.access_token, 'it has refreshed').to.not.equal(before);
        expect(login.sentTo, 'without the user').to.have.lengthOf(1);
        await client.close();
        await refreshed.close();

        expect((await world.server.call('POST', '/api/v1/mcp/grants:revoke', { body: ADA })).body.revoked).to.equal(1);
        const again = await connectAgain();
        expect(login.sentTo, 'the user has logged in again').to.have.lengthOf(2);
        expect((await again.listTools()).tools).to.have.lengthOf(names.length);
        await again.close();
      });
    }
  }

  for (const [name, line] of Object.entries(LINES)) {
    /**
     * Logs in with an address that the user typed. `change` alters the authorization request before the browser opens
     * it.
     */
    async function connectAt(url: URL, login: KeptLogin, change: (address: URL) => void = () => {}) {
      const failure = await line.connect(url, login).catch((error: unknown) => error);
      expect(line.isLoginNeeded(failure), String(failure)).to.equal(true);
      const address = login.sentTo.at(-1) as URL;
      change(address);
      await line.finish(url, login, await logInAt(world, address));
      return line.connect(url, login);
    }

    it(`${name} logs in at another host name of the environment`, async () => {
      const url = new URL(world.resource.replace('127.0.0.1', 'localhost'));
      const login = await loginBy('registration');
      const client = await connectAt(url, login);
      expect((await client.listTools()).tools.map((tool) => tool.name)).to.include('github_list_issues');
      expect(login.sentTo[0]?.searchParams.get('resource')).to.equal(url.href);
      await client.close();
    });

    it(`${name} receives an error at the next login when the server was deleted`, async () => {
      const url = new URL(world.resource);
      const login = await loginBy('registration');
      await (await connectAt(url, login)).close();
      await world.server.call('DELETE', `/api/v1/connections/${world.serverId}`);
      expect((await world.grants()).length, 'the grant has ended').to.equal(0);
      const failure = await line.connect(url, login).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      const address = login.sentTo.at(-1) as URL;
      const page = await new TestBrowser().open(address.href);
      expect(responseOf(page)).to.include({ error: 'invalid_target', iss: world.server.origin });
    });

    // SDK 1 refreshes with the same scopes instead, and never asks its user.
    if (name === 'sdk 1') continue;
    it(`${name} asks its user for the missing scope, and keeps the one it has (step-up)`, async () => {
      const url = new URL(world.resource);
      const login = await loginBy('registration');
      const client = await connectAt(url, login, (address) => address.searchParams.set('scope', 'tools:read'));
      expect(login.kept.scope).to.equal('tools:read');
      const call = { name: 'github_list_issues', arguments: { owner: 'acme', repo: 'plans' } };
      const refusal = await client.callTool(call).catch((error: unknown) => error);
      expect(line.isLoginNeeded(refusal), String(refusal)).to.equal(true);
      expect(login.sentTo).to.have.lengthOf(2);
      expect(login.sentTo[1]?.searchParams.get('scope')?.split(' ')).to.include.members(['tools:read', 'tools:call']);
      await line.finish(url, login, await logInAt(world, login.sentTo[1] as URL));
      const again = await line.connect(url, login);
      expect(await again.callTool(call), 'the tool asks for an account').to.have.property('isError', true);
      await Promise.all([client.close(), again.close()]);
    });
  }
});
