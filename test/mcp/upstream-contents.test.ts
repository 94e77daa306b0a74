import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { endLost } from '../../core/instances/instance.ts';
import { createAccount } from '../support/accounts.ts';
import { TestBrowser } from '../support/browser.ts';
import { NOTE, startContentsServer, startPagedServer } from '../support/contents-server.ts';
import { allowVerifyUrls, returned, startLinkServer, submitLink, VERIFY_URL, verifyUser } from '../support/links.ts';
import { until } from '../support/manual-timer.ts';
import { connectMcp, REVISIONS, rawMcp, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH } from '../support/mcp-configs.ts';
import { createMcpProvider, type McpProvider } from '../support/mcp-provider.ts';
import { type McpUpstream, type ModernServer, startEverything } from '../support/mcp-upstream.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

const EVERYTHING = 'https://everything.example';
const OWNER = { user_id: 'user-1', identifier: 'ada' };
const SECRET = 'upstream-token-0123456789';

describe('resources and prompts of third-party MCP servers', () => {
  let files: ModernServer;
  let wiki: ModernServer;
  let everything: McpUpstream;
  let server: TestServer;
  let ours: McpProvider;
  let theirs: McpProvider;
  let third: string;
  let both: string;
  let many: string;
  let none: string;
  let large: ModernServer;
  let paged: McpProvider;
  const reads = { begun: 0, cancelled: 0 };

  before(async () => {
    [files, wiki] = [await startContentsServer('files'), await startContentsServer('wiki')];
    large = await startPagedServer(reads);
    everything = await startEverything();
    const overrides = [
      files.endpointOverride('https://files.example'),
      wiki.endpointOverride('https://wiki.example'),
      large.endpointOverride('https://paged.example'),
      everything.endpointOverride(EVERYTHING),
    ];
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
    ours = await createMcpProvider(server, 'https://files.example/mcp', { name: 'Files', token: SECRET });
    theirs = await createMcpProvider(server, 'https://wiki.example/mcp', { name: 'Wiki' });
    const pattern = { type: 'NO_AUTH', is_mcp: true };
    const fields = { display_name: 'Everything', auth_patterns: [pattern], proxy_url: `${EVERYTHING}/mcp` };
    const { identifier } = await createProvider(server, fields);
    const account = await createAccount(server, { connector: identifier, userId: 'eve', connectedAccount: {} });
    third = account['connection_id'] as string;
    both = await config([ours.connectionId, theirs.connectionId], { resources: true, prompts: true });
    paged = await createMcpProvider(server, 'https://paged.example/mcp', { name: 'Paged' });
    many = await config([paged.connectionId, ours.connectionId], { resources: true });
    await allowVerifyUrls(server, VERIFY_URL);
    none = await config([ours.connectionId], {});
  });
  beforeEach(() => {
    files.refuse = () => undefined;
    wiki.refuse = () => undefined;
  });
  after(async () => {
    await server.stop();
    for (const upstream of [files, wiki, large, everything]) await upstream.stop();
  });

  let created = 0;
  async function config(connections: string[], offered: object): Promise<string> {
    const mappings = connections.map((connection_id) => ({ connection_id, ...offered }));
    const answer = await server.call('POST', MCP_CONFIGS_PATH, { body: { name: `Contents ${++created}`, mappings } });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.config.id;
  }

  async function open(serverId: string, revision: (typeof REVISIONS)[number], user: object = OWNER): Promise<Client> {
    return connectMcp(server, serverId, await sessionToken(server, serverId, user), { revision });
  }

  const of = ({ connectionId }: McpProvider, uri: string) => `valetkey://mcp/${connectionId}/${uri}`;
  const executions = async (tool: string) =>
    (await server.call('GET', `/api/v1/executions?tool_name=${tool}`)).body.executions as Record<string, unknown>[];

  it('are there when a client asks the third-party server itself', async () => {
    const client = new Client({ name: 'direct', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${files.origin}/mcp`)));
    expect((await client.listResources()).resources.map(({ uri }) => uri)).to.deep.equal([NOTE]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).to.deep.equal(['summarize']);
    await client.close();
  });

  for (const revision of REVISIONS) {
    describe(`in the revision ${revision}`, () => {
      it('are not offered by a config that does not permit them, nor by the server of a connection', async () => {
        for (const id of [none, ours.connectionId]) {
          const client = await open(id, revision);
          expect(client.getServerCapabilities()).to.not.have.any.keys('resources', 'prompts');
          for (const method of ['resources/read', 'prompts/get'] as const) {
            const params = method === 'prompts/get' ? { name: 'files.summarize' } : { uri: of(ours, NOTE) };
            const error = await client.request({ method, params } as never).catch((thrown) => thrown);
            expect(error, method).to.be.instanceOf(Error);
            expect(error.message).to.match(/not found|not support/i);
          }
          await client.close();
        }
      });

      it('are listed under names that two servers cannot share', async () => {
        const client = await open(both, revision);
        expect(client.getServerCapabilities()).to.include.keys('resources', 'prompts');
        const { resources } = await client.listResources();
        expect(resources.map(({ uri, title }) => [uri, title])).to.deep.equal([
          [of(ours, NOTE), 'Note of files'],
          [of(theirs, NOTE), 'Note of wiki'],
        ]);
        const { resourceTemplates } = await client.listResourceTemplates();
        expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.deep.equal([
          of(ours, 'file:///notes/by/{author}'),
          of(theirs, 'file:///notes/by/{author}'),
        ]);
        const { prompts } = await client.listPrompts();
        expect(prompts.map(({ name }) => name)).to.deep.equal(['files.summarize', 'wiki.summarize']);
        expect(prompts[0]?.arguments).to.deep.equal([{ name: 'style', description: 'How to write.', required: true }]);
        await client.close();
      });

      it('are read with the account of the user, and recorded', async () => {
        const client = await open(both, revision);
        files.seen.length = 0;
        const text = (await client.readResource({ uri: of(theirs, NOTE) })).contents;
        expect(text).to.deep.equal([{ uri: of(theirs, NOTE), mimeType: 'text/markdown', text: 'the note of wiki' }]);
        const { contents } = await client.readResource({ uri: of(ours, 'file:///notes/by/ada') });
        expect(contents).to.deep.equal([
          { uri: of(ours, 'file:///notes/by/ada'), blob: Buffer.from('by ada').toString('base64') },
        ]);
        expect(files.seen.every(({ authorization }) => authorization === `Bearer ${SECRET}`)).to.equal(true);
        expect(files.seen).to.have.length.above(0);
        const prompt = await client.getPrompt({ name: 'files.summarize', arguments: { style: 'briefly' } });
        expect(prompt.messages.map(({ content }) => content)).to.deep.equal([
          { type: 'text', text: 'Summarize briefly for files.' },
          { type: 'resource_link', uri: of(ours, NOTE), name: 'note' },
          { type: 'resource', resource: { uri: of(ours, NOTE), text: 'inside' } },
        ]);
        await client.close();
        const [read] = await executions('mcp_resource');
        expect(read).to.include({ status: 'SUCCEEDED', connected_account_id: ours.accountId, connector: 'files' });
        expect((await executions('mcp_prompt'))[0]).to.include({ status: 'SUCCEEDED' });
      });

      it('that do not exist are reported like those of connections that do not offer any', async () => {
        const client = await open(both, revision);
        const elsewhere = `valetkey://mcp/${third}/${NOTE}`;
        for (const uri of [of(ours, 'file:///nothing'), elsewhere, NOTE, 'valetkey://mcp/conn_x/']) {
          const error = await client.readResource({ uri }).catch((thrown) => thrown);
          expect(error.code, `${uri} ${error.message}`).to.equal(-32602);
        }
        for (const name of ['files.nothing', 'summarize', 'everything.simple-prompt']) {
          const error = await client.getPrompt({ name }).catch((thrown) => thrown);
          expect(error.code, `${name} ${error.message}`).to.equal(-32602);
        }
        await client.close();
      });

      it('of a server that fails are left out, and those of the others are listed', async () => {
        wiki.refuse = () => 503;
        const client = await open(both, revision);
        const listed = await client.listResources();
        expect(listed.resources.map(({ uri }) => uri)).to.deep.equal([of(ours, NOTE)]);
        expect(listed._meta?.['valetkey/unavailable']).to.deep.equal([
          { connection: 'wiki', message: 'The MCP server returned HTTP 503.' },
        ]);
        files.refuse = () => 500;
        const error = await client.listPrompts().catch((thrown) => thrown);
        expect([error.code, error.message]).to.deep.equal([-32000, 'The MCP server returned HTTP 500.']);
        const unread = await client.readResource({ uri: of(ours, NOTE) }).catch((thrown) => thrown);
        expect(unread.code).to.equal(-32000);
        expect(unread.data.error).to.include({ code: 'TOOL_FAILED', kind: 'upstream_server_error' });
        await client.close();
        expect((await executions('mcp_resource'))[0]).to.include({ status: 'FAILED' });
      });

      it('of a server of the older revision are passed on too', async () => {
        const id = await config([third], { resources: true, prompts: true });
        const client = await open(id, revision, { user_id: 'eve', identifier: 'user-1' });
        const { prompts } = await client.listPrompts();
        expect(prompts.map(({ name }) => name)).to.include('everything.simple-prompt');
        const { resources } = await client.listResources();
        expect(resources).to.have.length.above(3);
        const { contents } = await client.readResource({ uri: resources[0]?.uri as string });
        expect(contents[0]?.uri).to.equal(resources[0]?.uri);
        const prompt = await client.getPrompt({ name: 'everything.simple-prompt' });
        expect(prompt.messages).to.have.length(1);
        await client.close();
      });
    });
  }

  it('of a user without an account are missing in lists, and reading one leads to the link', async () => {
    const client = await open(both, '2026-07-28', { user_id: 'bob', identifier: 'bob' });
    const listed = await client.listResources();
    expect(listed.resources).to.deep.equal([]);
    expect(listed._meta?.['valetkey/unavailable']).to.have.length(2);
    const error = await client.readResource({ uri: of(ours, NOTE) }).catch((thrown) => thrown);
    expect(error.data.error, error.message).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    expect(error.data.error.next_action.type).to.equal('authorize');
    await client.close();
  });

  it('of a user without an account are read after the user has opened the link', async () => {
    const user = { user_id: 'cleo', identifier: 'cleo', user_verify_url: VERIFY_URL };
    const token = await sessionToken(server, both, user);
    const client = await connectMcp(server, both, token, {
      onLink: async ({ url }) => {
        const { authRequestId } = returned(await submitLink(new TestBrowser(), url, { token: SECRET }));
        expect((await verifyUser(server, authRequestId, 'cleo')).status).to.equal(200);
        return 'accept';
      },
    });
    const { contents } = await client.readResource({ uri: of(theirs, NOTE) });
    expect(contents[0]).to.include({ text: 'the note of wiki' });
    await client.close();
  });

  it('of many pages are listed until a page is full, and the cursor continues', async () => {
    const client = await open(many, '2026-07-28');
    const pages = [];
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = await client.request({ method: 'resources/list', params });
      pages.push(page.resources.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length)).to.deep.equal([400, 201]);
    expect(pages.flat().slice(0, 600)).to.deep.equal(Array.from({ length: 600 }, (_, index) => String(index)));
    expect(pages.flat()[600]).to.equal('note');
    await client.close();
  });

  for (const revision of REVISIONS) {
    it(`that their client no longer wants are cancelled at the server (${revision})`, async () => {
      const client = await open(many, revision);
      const cancel = new AbortController();
      const before = { ...reads };
      const reading = client.readResource({ uri: of(paged, 'item://1') }, { signal: cancel.signal });
      await until(() => reads.begun > before.begun);
      cancel.abort();
      expect(await reading.catch(() => 'cancelled')).to.equal('cancelled');
      await until(() => reads.cancelled > before.cancelled);
      let status = 'STARTED';
      while (status === 'STARTED') status = (await executions('mcp_resource'))[0]?.['status'] as string;
      expect(status).to.equal('FAILED');
      await client.close();
    });
  }

  it('that are still being read are not ended as lost by the heartbeat', async () => {
    const client = await open(many, '2026-07-28');
    const cancel = new AbortController();
    const begun = reads.begun;
    const reading = client.readResource({ uri: of(paged, 'item://1') }, { signal: cancel.signal });
    await until(() => reads.begun > begun);
    expect(await endLost(server.parts.instance, server.parts)).to.deep.equal({ executions: 0, keys: 0 });
    expect((await executions('mcp_resource'))[0]).to.include({ status: 'STARTED' });
    cancel.abort();
    await reading.catch(() => {});
    await client.close();
  });

  it('never contain the credentials of the account', async () => {
    files.on = (req, res) => {
      if (req.method !== 'POST') return false;
      const chunks: Buffer[] = [];
      req.on('data', (chunk) => chunks.push(chunk));
      req.on('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
        const result =
          method === 'resources/read'
            ? { contents: [{ uri: NOTE, text: `your token is ${SECRET}` }] }
            : {
                supportedVersions: ['2026-07-28'],
                capabilities: { resources: {} },
                serverInfo: { name: 'x', version: '1' },
              };
        res.writeHead(200, { 'content-type': 'application/json' });
        res.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }));
      });
      return true;
    };
    const token = await sessionToken(server, both, OWNER);
    const params = { uri: of(ours, NOTE) };
    const headers = { 'mcp-name': params.uri };
    const { body, text } = await rawMcp(server, both, { token, method: 'resources/read', params, headers });
    files.on = () => false;
    expect(body.result.contents[0].text, text).to.match(/^your token is /);
    expect(text).to.not.include(SECRET);
  });

  it('are refused with a cursor of another list', async () => {
    const token = await sessionToken(server, both, OWNER);
    for (const cursor of [
      '',
      'e30',
      Buffer.from('{"connectionId":"conn_x","page":0,"cursor":null}').toString('base64url'),
    ]) {
      const { body } = await rawMcp(server, both, { token, method: 'resources/list', params: { cursor } });
      expect(body.error, cursor).to.include({ code: -32602 });
    }
  });
});
