import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { FILES_ORIGIN as ORIGIN, FILES_RESOURCE as RESOURCE } from '../support/files-server.ts';
import { type FilesWorld, startFilesWorld } from '../support/files-world.ts';
import { accountOf, browserFor, makeLink, returned, submitLink, verifyUser } from '../support/links.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import { syncTools } from '../support/mcp-provider.ts';
import type { ModernServer } from '../support/mcp-upstream.ts';
import type { TestServer } from '../support/server.ts';

/** Metadata of an authorization server is cached for an hour, so each test uses a different server. */
const OLD = [1, 2, 3, 4, 5].map((number) => `https://old-${number}.example`);

describe('the authorization of MCP servers', () => {
  let as: AuthorizationServer;
  let upstream: ModernServer;
  let server: TestServer;

  let world: FilesWorld;

  before(async () => {
    world = await startFilesWorld(['as'], OLD);
    ({ server, upstream } = world);
    [as] = world.servers as [AuthorizationServer];
  });
  beforeEach(() => {
    world.trust(as);
    upstream.metadataPath = '/custom/metadata.json';
    upstream.refuseWith = { 'www-authenticate': `Bearer resource_metadata="${ORIGIN}/custom/metadata.json"` };
    upstream.on = () => false;
  });
  after(() => world.stop());

  const opened = async (url = RESOURCE) => world.open(await world.provider(url));
  const scopesAsked = async () => {
    const page = await opened();
    return new URL(page.location ?? page.text).searchParams.get('scope');
  };

  /** Connects an account, reads the tools, and calls a tool with a client of the protocol. */
  async function connectAndCall(user: string) {
    const provider = await world.provider();
    await world.connect(provider, user);
    const synced = await syncTools(server, provider);
    const [name] = synced.body.added;
    const { connection_id: id } = (await accountOf(server, user)) as unknown as { connection_id: string };
    const token = await sessionToken(server, id, { user_id: user, identifier: user });
    const client = await connectMcp(server, id, token);
    const result = await client.callTool({ name, arguments: {} });
    await client.close();
    return result;
  }

  describe('X3: a challenge', () => {
    it('leads to metadata that are at no well-known address, and the tools can be called', async () => {
      const result = await connectAndCall('ada');
      expect(JSON.stringify(result.content)).to.include('a.txt');
    });

    it('may name its metadata by a path', async () => {
      upstream.refuseWith = { 'www-authenticate': 'Bearer resource_metadata="/custom/metadata.json"' };
      expect((await opened()).location).to.match(/^https:\/\/as\.example\/auth\?/);
    });

    it('without metadata leads to the well-known addresses', async () => {
      upstream.refuseWith = {};
      expect((await opened()).status, 'the control').to.equal(502);
      upstream.metadataPath = '/.well-known/oauth-protected-resource/mcp';
      expect((await opened()).location).to.match(/^https:\/\/as\.example\/auth\?/);
    });

    it('is also read from a list, for a server that does not protect its handshake', async () => {
      upstream.refuseWith = {
        'www-authenticate': `Bearer scope="files:write", resource_metadata="${ORIGIN}/custom/metadata.json"`,
      };
      upstream.on = ({ method, headers }, res) => {
        const isHandshake = method === 'POST' && headers['mcp-method'] === undefined;
        if (isHandshake) res.writeHead(400).end();
        return isHandshake;
      };
      expect(await scopesAsked()).to.equal('files:write');
    });

    it('with missing metadata leads to the well-known addresses', async () => {
      upstream.metadataPath = '/.well-known/oauth-protected-resource';
      expect((await opened()).location).to.match(/^https:\/\/as\.example\/auth\?/);
    });

    it('with metadata of another resource is rejected', async () => {
      upstream.metadata = { resource: 'https://bank.example/mcp', authorization_servers: [as.issuer] };
      expect((await opened()).status).to.equal(502);
    });

    it('has scopes that are requested before those of the metadata', async () => {
      upstream.metadata = { ...upstream.metadata, scopes_supported: ['files:read', 'files:write'] };
      expect(await scopesAsked()).to.equal('files:read files:write');
      upstream.refuseWith = {
        'www-authenticate': `Basic realm="x", Bearer scope="files:read", resource_metadata="${ORIGIN}/custom/metadata.json"`,
      };
      expect(await scopesAsked()).to.equal('files:read');
    });
  });

  describe('of the revision 2025-03-26', () => {
    const tokens = new Set<string>();
    let routes: Record<string, (req: IncomingMessage, res: ServerResponse) => void>;
    const json = (body: unknown) => (_req: IncomingMessage, res: ServerResponse) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

    let origin: string;
    let tests = 0;
    beforeEach(() => {
      origin = OLD[tests++] as string;
      upstream.metadata = undefined;
      upstream.metadataPath = undefined;
      upstream.refuseWith = {};
      upstream.refuse = (authorization = '') => (tokens.has(authorization.replace('Bearer ', '')) ? undefined : 401);
      routes = {
        '/register': json({ client_id: 'registered' }),
        '/token': json({ access_token: 'token-of-2025-03-26', token_type: 'Bearer', expires_in: 3600 }),
      };
      tokens.add('token-of-2025-03-26');
      upstream.on = (req, res) => {
        const route = routes[new URL(req.url ?? '', origin).pathname];
        route?.(req, res);
        return route !== undefined;
      };
    });

    it('is at the origin of the server, as its metadata say', async () => {
      routes['/.well-known/oauth-authorization-server'] = json({
        issuer: origin,
        authorization_endpoint: `${origin}/custom/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
      expect((await opened(`${origin}/mcp`)).location?.split('?')[0]).to.equal(`${origin}/custom/authorize`);
    });

    it('may write its origin with a slash', async () => {
      routes['/.well-known/oauth-authorization-server'] = json({
        issuer: `${origin}/`,
        authorization_endpoint: `${origin}/custom/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
      });
      expect((await opened(`${origin}/mcp`)).location?.split('?')[0]).to.equal(`${origin}/custom/authorize`);
    });

    it('is rejected when its metadata belong to another issuer', async () => {
      routes['/.well-known/oauth-authorization-server'] = json({ issuer: 'https://bank.example' });
      expect((await opened(`${origin}/mcp`)).status).to.equal(502);
    });

    it('has the default endpoints without metadata, and the tools can be called', async () => {
      const browser = browserFor(as);
      const provider = await world.provider(`${origin}/mcp`);
      const link = await makeLink(server, { connector: provider, user_id: 'old', identifier: 'old' });
      const sent = new URL((await submitLink(browser, link)).location ?? '');
      expect(sent.origin + sent.pathname).to.equal(`${origin}/authorize`);
      expect(sent.searchParams.get('client_id')).to.equal('registered');
      expect(sent.searchParams.get('code_challenge_method')).to.equal('S256');
      const callback = new URL(sent.searchParams.get('redirect_uri') ?? '');
      callback.search = new URLSearchParams({ code: 'c', state: sent.searchParams.get('state') ?? '' }).toString();
      const { authRequestId } = returned(await browser.open(callback.href));
      expect((await verifyUser(server, authRequestId, 'old')).status).to.equal(200);
      const synced = await syncTools(server, provider);
      expect(synced.body.added, synced.text).to.have.length(1);
    });

    it('does not exist for a server that requires no token', async () => {
      upstream.refuse = () => undefined;
      expect((await opened(`${origin}/mcp`)).status).to.equal(502);
    });
  });
});
