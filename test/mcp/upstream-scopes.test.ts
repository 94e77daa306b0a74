import type { UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { type FilesWorld, startFilesWorld } from '../support/files-world.ts';
import {
  accountOf,
  browserFor,
  makeLink,
  returned,
  submitLink,
  VERIFY_URL,
  verifyUser,
  walk,
} from '../support/links.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import { syncTools } from '../support/mcp-provider.ts';
import type { TestServer } from '../support/server.ts';

const WRITE = 'files:write';

describe('an MCP server that requires more scopes for a call', () => {
  let world: FilesWorld;
  let server: TestServer;
  let as: AuthorizationServer;
  let provider: string;
  /** The scopes that the challenge of the server names. */
  let named: string;
  /** How many tool calls the server has received. */
  let received = 0;

  before(async () => {
    world = await startFilesWorld();
    ({ server } = world);
    [as] = world.servers as [AuthorizationServer];
    world.upstream.refuseWith = { 'www-authenticate': 'Bearer scope="files:read"' };
    world.upstream.metadata = { ...world.upstream.metadata, scopes_supported: ['files:read', WRITE] };
    provider = await world.provider();
    await world.connect(provider, 'first');
    await syncTools(server, provider);
  });
  beforeEach(() => {
    named = WRITE;
    world.upstream.on = async ({ headers }, res) => {
      if (headers['mcp-method'] !== 'tools/call') return false;
      received++;
      const scopes = await as.scopesOf((headers.authorization ?? '').replace('Bearer ', ''));
      if (!scopes || (scopes.includes(WRITE) && scopes.includes('files:read'))) return false;
      const challenge = `Bearer error="insufficient_scope", scope="${named}"`;
      res.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    };
  });
  after(() => world.stop());

  const call = (id: string) =>
    server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: 'files_list', tool_input: {}, connected_account_id: id },
    });
  const detailsOf = async (id: string) =>
    (await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`)).body.connected_account;
  const linkOf = (id: string) => makeLink(server, { id });
  /** Opens a link. @returns the scopes that it requests */
  async function asked(id: string) {
    const page = await submitLink(browserFor(as), await linkOf(id));
    return new URL(page.location ?? page.text).searchParams.get('scope')?.split(' ');
  }
  async function grant(link: string, user: string) {
    const { authRequestId } = returned(await walk(browserFor(as), link, user));
    expect((await verifyUser(server, authRequestId, user)).status).to.equal(200);
  }

  it('receives them after the next link of the account, which requests them beside the earlier ones', async () => {
    const id = await world.connect(provider, 'ada');
    expect(await asked(id), 'the control').to.deep.equal(['files:read']);
    const refused = await call(id);
    expect(refused.body.tool_error, 'the control').to.deep.include({
      kind: 'upstream_forbidden',
      required_scopes: [WRITE],
    });
    expect(refused.body.next_action).to.include({ type: 'reauthorize', operation_id: 'generateMagicLink' });
    expect((await detailsOf(id)).status).to.equal('ACTIVE');
    expect(await asked(id)).to.deep.equal(['files:read', WRITE]);
    await grant(await linkOf(id), 'ada');
    expect((await call(id)).body.data.content[0].text).to.equal('a.txt');
  });

  it('changes no other account', async () => {
    const [id, other] = [await world.connect(provider, 'bob'), await world.connect(provider, 'carol')];
    await call(id);
    expect(await asked(id)).to.include(WRITE);
    expect(await asked(other)).to.deep.equal(['files:read']);
  });

  it('cannot exceed the scopes of the connection: next_action names the administrator', async () => {
    const id = await world.connect(provider, 'dora');
    await call(id);
    const connection = `/api/v1/connections/${(await detailsOf(id)).connection_id}`;
    try {
      await server.call('PUT', connection, { body: { scopes: ['files:read'] } });
      expect(await asked(id)).to.deep.equal(['files:read']);
      const { next_action } = (await call(id)).body;
      expect(next_action).to.include({ type: 'configure', operation_id: 'updateConnection' });
    } finally {
      await server.call('PUT', connection, { body: { scopes: null } });
    }
    expect(await asked(id)).to.include(WRITE);
  });

  it('cannot fill the address of a link: of too many scopes the newest are requested', async () => {
    const id = await world.connect(provider, 'eve');
    const longNames = (round: number) => Array.from({ length: 7 }, (_, n) => `${round}-${n}-${'x'.repeat(490)}`);
    for (const round of [1, 2, 3]) {
      named = longNames(round).join(' ');
      await call(id);
    }
    const scopes = (await asked(id)) ?? [];
    expect(scopes).to.include.members(longNames(3));
    expect(scopes.join(' ').length).to.be.below(8_500);
    expect(scopes).to.not.include(longNames(1)[0]);
  });

  it('cannot block the links of an account by a scope that the authorization server does not give', async () => {
    const id = await world.connect(provider, 'hal');
    named = 'openid';
    await call(id);
    const link = await linkOf(id);
    const page = await submitLink(browserFor(as), link);
    expect(new URL(page.location ?? page.text).searchParams.get('scope')).to.equal('files:read openid');
    const browser = browserFor(as);
    const leading = await browser.follow(await submitLink(browser, link), (url) => url.pathname.startsWith('/oauth/'));
    expect(leading.location, 'the control').to.include('error=invalid_scope');
    await browser.open(leading.location as string);
    await grant(link, 'hal');
    expect((await detailsOf(id)).status).to.equal('ACTIVE');
  });

  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    it(`leads a client of the revision ${revision} through the link to the result`, async () => {
      const user = `fay-${revision}`;
      const id = await world.connect(provider, user);
      const { connection_id: connectionId } = await detailsOf(id);
      const token = await sessionToken(server, connectionId, {
        user_id: user,
        identifier: user,
        user_verify_url: VERIFY_URL,
      });
      const messages: string[] = [];
      const client = await connectMcp(server, connectionId, token, {
        revision,
        onLink: async ({ url, message }) => {
          messages.push(message);
          await grant(url, user);
          return 'accept';
        },
      });
      const call = { name: 'files_list', arguments: {} };
      const callsBefore = received;
      const result = await client.callTool(call).catch(async (error: Error) => {
        const [required] = (error as UrlElicitationRequiredError).elicitations;
        await grant(required?.url ?? '', user);
        messages.push(required?.message ?? '');
        return client.callTool(call);
      });
      await client.close();
      expect(JSON.stringify(result)).to.include('a.txt');
      // One call was refused, and one was made after the user had granted the scope.
      expect(received - callsBefore).to.equal(2);
      if (revision === '2026-07-28') {
        expect(messages).to.deep.equal([
          'Files requires more access than you have granted. Open the link to grant it.',
        ]);
      }
    });
  }

  it('gives a client that cannot open links the address, with the scopes', async () => {
    const id = await world.connect(provider, 'gil');
    const { connection_id: connectionId } = await detailsOf(id);
    const token = await sessionToken(server, connectionId, {
      user_id: 'gil',
      identifier: 'gil',
      user_verify_url: VERIFY_URL,
    });
    const client = await connectMcp(server, connectionId, token);
    const callsBefore = received;
    const refused = await client.callTool({ name: 'files_list', arguments: {} });
    await client.close();
    expect(received - callsBefore, 'is not repeated for the link').to.equal(1);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
    const error = JSON.parse(JSON.stringify(refused.structuredContent ?? refused)) as any;
    expect(JSON.stringify(error))
      .to.include(WRITE)
      .and.to.match(/https?:\/\/[^" ]+\/connect\//);
    expect((await accountOf(server, 'gil'))?.status).to.equal('ACTIVE');
  });
});
