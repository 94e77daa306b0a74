import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { altered } from '../support/altered.ts';
import { TestBrowser } from '../support/browser.ts';
import { accountOf, startLinkServer, typeKey, VERIFY_URL, verifyUser } from '../support/links.ts';
import {
  type Asked,
  connectMcp,
  type McpUserOptions,
  REVISIONS,
  type Revision,
  rawMcp,
  sessionToken,
  type TestMcpClientOptions,
} from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const ORIGIN = 'https://api.acme.example';
const KEY = 'secret-typed-key';
const CALL = { name: 'acme_get_thing', arguments: { number: 7 } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
const dataOf = (result: unknown) => (result as CallToolResult).structuredContent as any;

describe('links that MCP clients are sent to (M7)', () => {
  let server: TestServer;
  let upstream: Upstream;
  let connectionId: string;
  let made = 0;
  /** Runs while the server waits; resolves when the wait is over. */
  let wait: (ms: number) => Promise<void>;
  const clients: Client[] = [];

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, { id: 7 }));
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ORIGIN) },
      overrides: { wait: (ms: number) => wait(ms) },
    });
    const names = { display_name: 'Acme Things', proxy_enabled: true, proxy_url: ORIGIN };
    const provider = await createProvider(server, names);
    connectionId = (await createConnection(server, { connector: provider.identifier })).id;
    await storeTools(server, [ownTool(provider.identifier, 'acme_get_thing')]);
  });
  beforeEach(() => {
    wait = async () => {};
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    upstream.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  /** Returns a new user of the application without any account. */
  function someone(): McpUserOptions & { identifier: string } {
    made += 1;
    return { user_id: `user-${made}`, identifier: `person-${made}@app.example`, user_verify_url: VERIFY_URL };
  }

  async function connect(user: McpUserOptions, options: TestMcpClientOptions): Promise<Client> {
    const client = await connectMcp(server, connectionId, await sessionToken(server, connectionId, user), options);
    clients.push(client);
    return client;
  }

  /** The user opens the link and types the key, and the application verifies the user. */
  async function finish(url: string, identifier: string) {
    const { authRequestId } = await typeKey(url, KEY);
    return verifyUser(server, authRequestId, identifier);
  }

  it('are sent as a protocol request, and the call continues when the user has finished (2026-07-28)', async () => {
    const user = someone();
    const asked: Asked[] = [];
    const client = await connect(user, {
      onLink: async (question) => {
        asked.push(question);
        await finish(question.url, user.identifier);
        return 'accept';
      },
    });
    const result = await client.callTool(CALL);
    expect(dataOf(result).data).to.deep.equal({ id: 7 });
    expect(asked).to.have.length(1);
    expect(upstream.requests[0]?.headers['x-api-key']).to.equal(KEY);
  });

  it('are sent as the error of the older revision (2025-11-25, -32042)', async () => {
    const user = someone();
    const client = await connect(user, { revision: '2025-11-25', onLink: async () => 'accept' });
    const error = await client.callTool(CALL).then(
      () => null,
      (thrown) => thrown,
    );
    expect(error.code).to.equal(-32042);
    const [elicitation] = error.data.elicitations;
    expect(elicitation).to.include({ mode: 'url' });
    expect((await finish(elicitation.url, user.identifier)).status).to.equal(200);
    expect(dataOf(await client.callTool(CALL)).data).to.deep.equal({ id: 7 });
  });

  for (const revision of REVISIONS) {
    it(`are sent as text to a client without support (${revision})`, async () => {
      const user = someone();
      const client = await connect(user, { revision });
      const result = (await client.callTool(CALL)) as CallToolResult;
      expect(result.isError).to.equal(true);
      const { error } = dataOf(result);
      expect(error).to.include({ code: 'ACCOUNT_NOT_ACTIVE', retryable: false });
      expect(error.next_action.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/connect\//);
      expect((result.content[0] as { text: string }).text).to.contain(error.next_action.url);
      expect((await finish(error.next_action.url, user.identifier)).status).to.equal(200);
      expect(dataOf(await client.callTool(CALL)).data).to.deep.equal({ id: 7 });
    });
  }

  it('reveal nothing about the user, and give no access by themselves', async () => {
    const user = someone();
    const url = await offered(user);
    expect(url).to.not.contain(user.identifier).and.not.contain(user.user_id);
    expect((await new TestBrowser().open(url)).status).to.equal(200);
    expect((await accountOf(server, user.identifier))?.status).to.equal('PENDING_AUTH');
  });

  it('of an attacker that a victim finishes give the attacker nothing (L1)', async () => {
    const attacker = someone();
    const victim = someone();
    const client = await connect(attacker, {});
    const url = dataOf(await client.callTool(CALL)).error.next_action.url;
    // The victim types the key, and the application verifies the user whom it sees, the victim.
    const refused = await finish(url, victim.identifier);
    expect(refused.body).to.include({ status: 403, code: 'IDENTIFIER_MISMATCH' });
    const result = await client.callTool(CALL);
    expect(dataOf(result).error.code).to.equal('ACCOUNT_NOT_ACTIVE');
    expect(upstream.requests).to.have.length(0);
  });

  it('are not finished before the application has verified the user', async () => {
    const user = someone();
    const client = await connect(user, {});
    await typeKey(dataOf(await client.callTool(CALL)).error.next_action.url, KEY);
    const { error } = dataOf(await client.callTool(CALL));
    expect(error.next_action.operation_id).to.equal('verifyUser');
    expect(error.message).to.match(
      /^The application has not verified yet which user connected the account\. The application must /,
    );
    expect(error).to.not.have.nested.property('next_action.url');
    expect(upstream.requests).to.have.length(0);
  });

  it('are not offered again automatically after the user has declined', async () => {
    for (const answer of ['decline', 'cancel'] as const) {
      let questions = 0;
      const client = await connect(someone(), {
        onLink: async () => {
          questions += 1;
          return answer;
        },
      });
      const result = await client.callTool(CALL);
      expect(result.isError, answer).to.equal(true);
      expect(questions, answer).to.equal(1);
    }
  });

  describe('X4: a call that is repeated before the user has finished', () => {
    /** Creates a user who has opened the link and has not finished, and a call that waits for this user. */
    async function onTheWay() {
      const user = someone();
      const asked: Asked[] = [];
      const time = Promise.withResolvers<void>();
      const waits = Promise.withResolvers<number>();
      wait = (ms) => {
        waits.resolve(ms);
        return time.promise;
      };
      const onLink = async (question: Asked) => {
        asked.push(question);
        return 'accept' as const;
      };
      const result = (await connect(user, { onLink })).callTool(CALL);
      expect(await waits.promise).to.equal(25_000);
      return { user, asked, result, url: (asked[0] as Asked).url, timeIsOver: () => time.resolve() };
    }

    it('waits for the user and runs as soon as the user is verified', async () => {
      const { user, asked, result, url } = await onTheWay();
      const { authRequestId } = await typeKey(url, KEY);
      expect(upstream.requests).to.have.length(0);
      await verifyUser(server, authRequestId, user.identifier);
      expect(dataOf(await result).data).to.deep.equal({ id: 7 });
      expect(asked).to.have.length(1);
    });

    it('runs when the application stores credentials meanwhile', async () => {
      const { user, result } = await onTheWay();
      const { id } = (await accountOf(server, user.identifier)) as { id: string };
      const authorization_details = { static_auth: { details: { api_key: KEY } } };
      const body = { id, connected_account: { authorization_details } };
      await server.call('PUT', '/api/v1/connected_accounts', { body });
      expect(dataOf(await result).data).to.deep.equal({ id: 7 });
    });

    it('fails after 25 seconds with the same link as text, and does not ask again', async () => {
      const { asked, result, url, timeIsOver } = await onTheWay();
      timeIsOver();
      const { error } = dataOf(await result);
      expect(error).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
      expect(error.next_action.url).to.equal(url);
      expect(error.message).to.equal(
        'The user has not finished connecting the Acme Things account. When the user has, call the tool again.',
      );
      expect(asked).to.have.length(1);
    });

    it('stops waiting when the account is deleted', async () => {
      const { user, result } = await onTheWay();
      const { id } = (await accountOf(server, user.identifier)) as { id: string };
      await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
      expect((await result).isError).to.equal(true);
    });

    it('does not wait because of changes of other accounts', async () => {
      const { result, timeIsOver } = await onTheWay();
      const other = someone();
      wait = async () => {};
      await finish(await offered(other), other.identifier);
      timeIsOver();
      expect((await result).isError).to.equal(true);
    });
  });

  it('X14: name the provider and the next step, in words for users', async () => {
    const asked: Asked[] = [];
    const user = someone();
    const client = await connect(user, {
      onLink: async (question) => {
        asked.push(question);
        return 'decline';
      },
    });
    const refused = await client.callTool(CALL);
    expect(dataOf(refused).error.message).to.equal('The user declined to connect Acme Things.');
    // The first call has created the account, which the user has not connected yet.
    await client.callTool(CALL);
    await finish(await offered(user), user.identifier);
    const { id } = (await accountOf(server, user.identifier)) as { id: string };
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } });
    await client.callTool(CALL);
    expect(asked.map(({ message }) => message)).to.deep.equal([
      'Connect your Acme Things account to continue. Open the link to do so.',
      'Connect your Acme Things account to continue. Open the link to do so.',
      'Your Acme Things account was disconnected. Open the link to connect it again.',
    ]);
  });

  it('X15: that cannot be created are replaced by a hint who can act: an account that needs settings', async () => {
    const { id } = await createConnection(server, { connector: 'http' });
    const token = await sessionToken(server, id, someone());
    const params = { name: 'http_get', arguments: { path: '/things' } };
    const { body } = await rawMcp(server, id, { token, method: 'tools/call', params });
    expect(body.result.isError).to.equal(true);
    const { next_action: next } = body.result.structuredContent.error;
    expect(next.operation_id).to.equal('createConnectedAccount');
    expect(next.message).to.match(/^The application must store the settings of the account\. .*base_url/);
  });

  it('are not created if the application has set no address for the verification, and the model gets the reason', async () => {
    const { user_verify_url: _none, ...user } = someone();
    const client = await connect(user, { onLink: async () => 'accept' });
    const { error } = dataOf(await client.callTool(CALL));
    expect(error.next_action.operation_id).to.equal('createMcpSessionToken');
    expect(error.next_action.message).to.contain('user_verify_url is required');
  });

  describe('the state that a client sends back', () => {
    const envelope = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
    const call = (token: string, more: object = {}, params: object = CALL) =>
      server.call('POST', `/mcp/${connectionId}`, {
        token,
        headers: {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': CALL.name,
        },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            ...params,
            ...more,
            _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...envelope },
          },
        },
      });
    const answered = { inputResponses: { connect_account: { action: 'accept' } } };

    async function stateOf(user: McpUserOptions) {
      const token = await sessionToken(server, connectionId, user);
      const { body } = await call(token);
      expect(body.result.resultType).to.equal('input_required');
      return { token, requestState: body.result.requestState as string };
    }

    it('is valid for the call that it was created for (control)', async () => {
      const { token, requestState } = await stateOf(someone());
      const { body } = await call(token, { ...answered, requestState });
      expect(body.result.structuredContent.error.next_action.url).to.contain('/connect/');
    });

    it('is refused when it was changed, or belongs to other arguments or another user', async () => {
      const { token, requestState } = await stateOf(someone());
      const stranger = await sessionToken(server, connectionId, someone());
      const attempts = [
        call(token, { ...answered, requestState: altered(requestState) }),
        call(token, { ...answered, requestState }, { ...CALL, arguments: { number: 8 } }),
        call(stranger, { ...answered, requestState }),
      ];
      for (const { body } of await Promise.all(attempts)) {
        expect(body.error).to.deep.include({ code: -32602, data: { reason: 'invalid_request_state' } });
      }
    });

    it('reveals neither the link nor the user', async () => {
      const user = someone();
      const { requestState } = await stateOf(user);
      const seen = Buffer.from(requestState, 'base64url').toString('latin1');
      expect(seen).to.not.contain('/connect/').and.not.contain(user.identifier);
    });
  });

  it('are offered for an account that has ended, as for one that never existed', async () => {
    const user = someone();
    await finish(await offered(user), user.identifier);
    const { id } = (await accountOf(server, user.identifier)) as { id: string };
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } });
    const client = await connect(user, {
      onLink: async ({ url }) => {
        await finish(url, user.identifier);
        return 'accept';
      },
    });
    expect(dataOf(await client.callTool(CALL)).data).to.deep.equal({ id: 7 });
  });

  it('are not required if accounts have no credentials: the first call creates the account', async () => {
    const provider = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: ORIGIN,
      auth_patterns: [{ type: 'NO_AUTH' }],
    });
    const { id } = await createConnection(server, { connector: provider.identifier });
    await storeTools(server, [ownTool(provider.identifier, 'open_get_thing')]);
    const token = await sessionToken(server, id, someone());
    const params = { name: 'open_get_thing', arguments: { number: 7 } };
    const { body } = await rawMcp(server, id, { token, method: 'tools/call', params });
    expect(body.result.structuredContent.data).to.deep.equal({ id: 7 });
  });

  /** Returns the link that a user without an account gets. */
  async function offered(user: McpUserOptions, revision: Revision = '2026-07-28'): Promise<string> {
    const client = await connect(user, { revision });
    return dataOf(await client.callTool(CALL)).error.next_action.url;
  }
});
