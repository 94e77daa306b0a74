import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { EmittedEvent } from '../../core/events/sink.ts';
import { createListChanges } from '../../core/mcp/list-changes.ts';
import { offeredNames } from '../../core/mcp/offered-tools.ts';
import { findServer } from '../../core/mcp/server-definition.ts';
import type { McpGrant } from '../../core/mcp/session.ts';
import type { EnvironmentId, McpConfigRow, Transaction } from '../../db/store.ts';
import { startContentsServer } from '../support/contents-server.ts';
import { until } from '../support/manual-timer.ts';
import { connectMcp, rawMcp, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH } from '../support/mcp-configs.ts';
import { createMcpProvider, type McpProvider } from '../support/mcp-provider.ts';
import type { ModernServer } from '../support/mcp-upstream.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { setOverlay } from '../support/tool-overlays.ts';

const OWNER = { user_id: 'user-1', identifier: 'ada' };
const ACCEPT = { accept: 'application/json, text/event-stream' };
const FILTER = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };

describe('changes of the lists of an MCP server', () => {
  let files: ModernServer;
  let server: TestServer;
  let provider: McpProvider;
  let github: string;
  let id: string;
  let token: string;
  /** The notifications that the client of each revision has received. */
  let newer: string[];
  let older: string[];
  let client: Client;
  const theirs: string[] = [];
  const gone = new AbortController();

  before(async () => {
    files = await startContentsServer('files', theirs);
    const env = { VALETKEY_ENDPOINT_OVERRIDES: files.endpointOverride('https://files.example') };
    server = await startTestServer({ env });
    provider = await createMcpProvider(server, 'https://files.example/mcp', { name: 'Files' });
    github = (await createConnection(server, { connector: 'github' })).id;
    const mappings = [
      { connection_id: github, tools: ['github_list_issues'] },
      { connection_id: provider.connectionId, resources: true },
    ];
    const { body } = await server.call('POST', MCP_CONFIGS_PATH, { body: { name: 'Watched', mappings } });
    id = body.config.id;
    token = await sessionToken(server, id, OWNER);
    client = await connectMcp(server, id, token);
    for (const list of ['tools', 'resources', 'prompts'] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => void newer.push(list));
    const { honoredFilter } = await client.listen(FILTER);
    expect(honoredFilter).to.deep.equal({ toolsListChanged: true, resourcesListChanged: true });
    await listenAsBefore();
  });
  beforeEach(() => {
    newer = [];
    older = [];
  });
  after(async () => {
    gone.abort();
    await client.close();
    await server.stop();
    await files.stop();
  });

  /** Opens the stream of a session of the revision 2025-11-25. */
  async function listenAsBefore() {
    const post = (message: object, headers: Record<string, string> = {}) =>
      server.call('POST', `/mcp/${id}`, { token, body: message, headers: { ...ACCEPT, ...headers } });
    const clientInfo = { name: 'older', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const begun = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect(begun.text).to.include('"tools":{"listChanged":true}');
    const session = begun.headers['mcp-session-id'] as string;
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': session, ...ACCEPT };
    const response = await fetch(`${server.origin}/mcp/${id}`, { headers, signal: gone.signal });
    expect(response.status).to.equal(200);
    void (async () => {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
        const text = new TextDecoder().decode(piece);
        for (const [, list] of text.matchAll(/notifications\/(\w+)\/list_changed/g)) older.push(list as string);
      }
    })().catch(() => {});
  }

  const put = (tools: string[]) => {
    const mappings = [
      { connection_id: github, tools },
      { connection_id: provider.connectionId, resources: true },
    ];
    return server.call('PUT', `${MCP_CONFIGS_PATH}/${id}`, { body: { mappings } });
  };
  const told = async (...lists: string[]) => {
    await until(() => newer.length >= lists.length && older.length >= lists.length);
    expect([newer, older]).to.deep.equal([lists, lists]);
  };

  it('are reported when the config offers other tools', async () => {
    await put(['github_list_issues', 'github_create_issue']);
    await told('tools');
  });

  it('are reported when an overlay changes the description of a tool, and not for tools of others', async () => {
    await setOverlay(server, 'slack_list_channels', { added_description: 'Ask first.' });
    await server.parts.listChanges.check();
    expect([newer, older]).to.deep.equal([[], []]);
    await setOverlay(server, 'github_list_issues', { added_description: 'Ask first.' });
    await told('tools');
  });

  it('are reported when a third-party server has another tool, once its list is read', async () => {
    theirs.push('look');
    expect((await provider.sync()).body.added).to.deep.equal(['files_look']);
    await told('tools');
  });

  it('are reported when the connection allows other tools', async () => {
    await server.call('PUT', `/api/v1/connections/${github}`, { body: { allowed_tools: ['github_list_issues'] } });
    await told('tools');
  });

  it('are reported when the account of the user ends, and for that list only', async () => {
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id: provider.accountId } });
    await server.parts.listChanges.check();
    await told('resources');
  });

  it('are reported when another process has changed something, by the next comparison', async () => {
    const { store, listChanges } = server.parts;
    const environmentId = (await firstEnvironment(server)).id as EnvironmentId;
    await store.write(async (tx) => {
      const { version, ...row } = (await tx.mcpConfigs.get(environmentId, id)) as McpConfigRow;
      await tx.mcpConfigs.update(environmentId, id, version, { ...row, mappings: row.mappings.slice(1) });
    });
    expect([newer, older]).to.deep.equal([[], []]);
    await listChanges.check();
    await told('tools');
  });

  /** Watches the tools of the connection for three users, and counts how often a tool is read. */
  async function watchCounted(pause: (ms: number) => Promise<void> = async () => {}) {
    const counted = { reads: 0 };
    const { toolDirectory } = server.parts;
    const find: typeof toolDirectory.find = (...given) => {
      counted.reads++;
      return toolDirectory.find(...given);
    };
    const changes = createListChanges({ ...server.parts, toolDirectory: { ...toolDirectory, find }, pause });
    const environment = await firstEnvironment(server);
    const definition = await findServer(server.parts.store.read, environment.id, github);
    if (!definition) throw new Error('the connection has no server');
    const tools = (await offeredNames(server.parts.store.read, server.parts, definition)).length;
    expect(tools).to.be.greaterThan(0);
    for (const identifier of ['ada', 'bob', 'cy']) {
      const grant = { sessionClient: 'client', user: { identifier } } as McpGrant;
      await changes.watch({ environment, server: definition, grant, requestId: 'req' });
    }
    counted.reads = 0;
    return { changes, counted, tools, environment };
  }

  it('cost one reading of the tools for all users of a server', async () => {
    const { changes, counted, tools } = await watchCounted();
    await changes.check();
    expect(counted.reads).to.equal(tools);
  });

  it('cost one more comparison, after a pause, however many come during a comparison', async () => {
    const pauses: (() => void)[] = [];
    const { changes, counted, tools, environment } = await watchCounted(
      () => new Promise((resolve) => pauses.push(resolve)),
    );
    const tx = { afterCommit: (run: () => void) => run() } as Transaction;
    const change = () => changes.sink.handle(tx, { cause: { environmentId: environment.id } } as EmittedEvent);
    for (let times = 0; times < 5; times++) change();
    await until(() => pauses.length === 1);
    expect(counted.reads).to.equal(tools);
    pauses[0]?.();
    await until(() => pauses.length === 2);
    expect(counted.reads).to.equal(2 * tools);
    pauses[1]?.();
    await changes.check();
    expect([counted.reads, pauses.length]).to.deep.equal([3 * tools, 2]);
  });

  it('are reported on 16 streams of a user; the next one is refused', async () => {
    const user = { user_id: 'many', identifier: 'many' };
    const other = await sessionToken(server, id, user);
    const many = await connectMcp(server, id, other);
    for (let count = 0; count < 16; count++) await many.listen(FILTER);
    const params = { notifications: FILTER };
    const { body } = await rawMcp(server, id, { token: other, method: 'subscriptions/listen', params });
    expect(body.error).to.include({ code: -32000 });
    await many.close();
  });
});
