import { expect } from 'chai';
import { readDirectCall } from '../../core/mcp/direct-call.ts';
import { createAccount } from '../support/accounts.ts';
import { ACCOUNT_KEY, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };
const OLDER = { ...ACCEPT, 'mcp-protocol-version': '2025-11-25' };
const CALL = { name: 'acme_get_thing', arguments: { number: 7 } };
/** A member of `_meta` that only the MCP SDK supports, so the SDK serves a request with it. */
const BY_PACKAGE = { 'acme.test/unknown': 'x' };
const META = 'io.modelcontextprotocol/';

describe('tool calls that are served without the MCP SDK', () => {
  let server: TestServer;
  let upstream: Upstream;
  let id: string;
  let token: string;

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, { id: 7 }));
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) } });
    const { identifier } = await createProvider(server, { proxy_enabled: true, proxy_url: KEYED_ORIGIN });
    const connection = await createConnection(server, { connector: identifier });
    id = connection.id;
    await storeTools(server, [ownTool(identifier, CALL.name)]);
    await createAccount(server, {
      connector: connection.key_id,
      identifier: 'ada@acme.test',
      userId: 'user-1',
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: ACCOUNT_KEY } } } },
    } as never);
    token = await sessionToken(server, id);
  });
  afterEach(() => {
    upstream.handler = (_request, res) => json(res, 200, { id: 7 });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  const newer = (params: object, meta: object = {}) => {
    const envelope = {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: {},
      [`${META}clientInfo`]: { name: 'raw', version: '1' },
    };
    const body = {
      jsonrpc: '2.0',
      id: 'a',
      method: 'tools/call',
      params: { ...params, _meta: { ...envelope, ...meta } },
    };
    const headers = {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': CALL.name,
    };
    return server.call('POST', `/mcp/${id}`, { token, body, headers });
  };
  const older = (params: object, meta: object = {}, headers: object = {}) => {
    const body = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { ...params, _meta: meta } };
    return server.call('POST', `/mcp/${id}`, { token, body, headers: { ...OLDER, ...headers } });
  };
  const begin = async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const response = await server.call('POST', `/mcp/${id}`, { token, body, headers: ACCEPT });
    return String(response.headers['mcp-session-id']);
  };

  /** The response without what differs between any two calls. */
  const shown = ({ status, headers, text }: TestResponse) => ({
    status,
    type: headers['content-type'],
    session: headers['mcp-session-id'],
    buffering: headers['x-accel-buffering'],
    caching: headers['cache-control'],
    text: text.replaceAll(/exec_[a-z0-9]+/g, 'exec').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  });
  /**
   * Whether the SDK did not serve the request: it streams its responses, and direct responses are written in one piece.
   */
  const isDirect = ({ headers }: TestResponse) => headers['content-length'] !== undefined;

  for (const [title, handler] of [
    ['a result', undefined],
    ['a failure of the provider', (_request: unknown, res: Parameters<typeof json>[0]) => json(res, 404, { no: 1 })],
  ] as const) {
    it(`return ${title} exactly as the SDK does`, async () => {
      if (handler) upstream.handler = handler;
      const session = { 'mcp-session-id': await begin() };
      for (const call of [newer, older, (params: object, meta = {}) => older(params, meta, session)]) {
        const [direct, whole] = [await call(CALL), await call(CALL, BY_PACKAGE)];
        expect([isDirect(direct), isDirect(whole)]).to.deep.equal([true, false]);
        expect(direct.text).to.contain('"exec_');
        expect(shown(direct)).to.deep.equal(shown(whole));
      }
    });
  }

  it('reject an invalid input as the SDK does, and send nothing', async () => {
    upstream.requests.length = 0;
    const wrong = { ...CALL, arguments: { number: 'seven' } };
    expect(shown(await newer(wrong))).to.deep.equal(shown(await newer(wrong, BY_PACKAGE)));
    expect(shown(await older(wrong))).to.deep.equal(shown(await older(wrong, BY_PACKAGE)));
    expect(upstream.requests).to.deep.equal([]);
  });

  it('are passed to the SDK if the user must connect an account first', async () => {
    const other = await sessionToken(server, id, { user_id: 'user-2', identifier: 'eve@acme.test' });
    const response = await rawMcp(server, id, { token: other, method: 'tools/call', params: CALL });
    expect(isDirect(response)).to.equal(false);
    expect(response.body.result.structuredContent.error.code).to.equal('ACCOUNT_NOT_ACTIVE');
  });

  it('are refused in a session of another user, as if it did not exist', async () => {
    const session = await begin();
    const own = token;
    token = await sessionToken(server, id, { user_id: 'user-2', identifier: 'eve@acme.test' });
    const response = await older(CALL, {}, { 'mcp-session-id': session });
    token = own;
    expect(response.status).to.equal(404);
  });

  it('are refused in a session that has ended', async () => {
    const session = { 'mcp-session-id': await begin() };
    await server.call('DELETE', `/mcp/${id}`, { token, headers: session });
    expect((await older(CALL, {}, session)).status).to.equal(404);
  });

  it('return no result after their client has cancelled them in another request', async () => {
    const session = await begin();
    const arrived = new Promise<() => void>((resolve) => {
      upstream.handler = (_request, res) => resolve(() => json(res, 200, { id: 7 }));
    });
    const call = older(CALL, {}, { 'mcp-session-id': session });
    const respond = await arrived;
    const headers = { ...OLDER, 'mcp-session-id': session };
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    expect((await server.call('POST', `/mcp/${id}`, { token, body, headers })).status).to.equal(202);
    respond();
    expect((await call).text).to.equal('');
  });

  it('continue when another session cancels a call of the same id', async () => {
    const [session, other] = [await begin(), await begin()];
    const arrived = new Promise<() => void>((resolve) => {
      upstream.handler = (_request, res) => resolve(() => json(res, 200, { id: 7 }));
    });
    const call = older(CALL, {}, { 'mcp-session-id': session });
    const respond = await arrived;
    const headers = { ...OLDER, 'mcp-session-id': other };
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    await server.call('POST', `/mcp/${id}`, { token, body, headers });
    respond();
    expect((await call).text).to.contain('"result"');
  });

  describe('without the SDK', () => {
    const headers = { ...ACCEPT, 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28' };
    const named = { ...headers, 'mcp-method': 'tools/call', 'mcp-name': CALL.name };
    const envelope = {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: { elicitation: { url: {} } },
      [`${META}clientInfo`]: { name: 'raw', version: '1' },
    };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...CALL, _meta: envelope } };
    const withMeta = (meta: object) => ({ ...message, params: { ...CALL, _meta: { ...envelope, ...meta } } });

    it('serve a plain call (control)', () => {
      expect(readDirectCall(named, message)).to.deep.include({ era: 'modern', name: CALL.name, wantsProgress: false });
      const plain = { ...message, params: CALL };
      expect(readDirectCall({ ...OLDER, 'content-type': 'application/json' }, plain)).to.deep.include({
        era: 'legacy',
      });
    });

    for (const [title, given, body] of [
      ['a batch', named, [message]],
      ['a notification', named, { jsonrpc: '2.0', method: 'tools/call', params: message.params }],
      ['another method', named, { ...message, method: 'tools/list' }],
      ['a fractional id', named, { ...message, id: 1.5 }],
      ['an unknown member', named, { ...message, more: 1 }],
      ['arguments that are a list', named, { ...message, params: { ...message.params, arguments: [] } }],
      ['the response to an elicitation', named, { ...message, params: { ...message.params, inputResponses: {} } }],
      ['the state of an earlier call', named, { ...message, params: { ...message.params, requestState: 'x' } }],
      ['a call without a header for its method', { ...headers, 'mcp-name': CALL.name }, message],
      ['a call with another name in its header', { ...named, 'mcp-name': 'acme_other' }, message],
      ['a call with another revision in its header', { ...named, 'mcp-protocol-version': '2027-01-01' }, message],
      ['a call with another revision in its body', named, withMeta({ [`${META}protocolVersion`]: '2025-11-25' })],
      ['a call without an envelope', named, { ...message, params: CALL }],
      ['capabilities that are not objects', named, withMeta({ [`${META}clientCapabilities`]: { elicitation: 5 } })],
      ['a client without a version', named, withMeta({ [`${META}clientInfo`]: { name: 'raw' } })],
      ['an envelope in the older revision', { ...named, 'mcp-protocol-version': '2025-11-25' }, message],
      ['a client that accepts no JSON', { ...named, accept: 'text/event-stream' }, message],
      ['another media type', { ...named, 'content-type': 'text/plain' }, message],
      ['a progress token that is an object', named, withMeta({ progressToken: {} })],
    ] as const) {
      it(`leave ${title} to the SDK`, () => expect(readDirectCall(given, body)).to.equal(undefined));
    }
  });
});
