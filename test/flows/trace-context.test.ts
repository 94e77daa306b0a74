import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { createMcpProvider } from '../support/mcp-provider.ts';
import { createProvider } from '../support/providers.ts';
import { listed, type RawMcpServer, startRawMcpServer } from '../support/raw-mcp-server.ts';
import { LOOK, RAW_MCP_ORIGIN } from '../support/raw-mcp-world.ts';
import { tempDir } from '../support/temp-dir.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const HEADERS = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'caller=1', baggage: 'user=ada' };
const FIELDS = [
  { field_name: 'client_id', label: 'Client id', input_type: 'text', required: true },
  { field_name: 'client_secret', label: 'Client secret', input_type: 'password', required: true },
];

interface Span {
  traceId: string;
  spanId: string;
  kind: number;
}

describe('send_trace_context of a connection', () => {
  const folder = tempDir();
  let acme: Upstream;
  let tools: RawMcpServer;
  let collector: Upstream;
  let server: ChildServer;

  const start = async (telemetry: boolean) => {
    server = await startChildServer({
      DATA_DIR: folder.path,
      VALETKEY_ENDPOINT_OVERRIDES: `${acme.endpointOverride(KEYED_ORIGIN)},${tools.endpointOverride(RAW_MCP_ORIGIN)}`,
      ...(telemetry && { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }),
    });
  };
  const set = async (connectionId: unknown, send_trace_context: boolean) => {
    const body = { send_trace_context };
    const answer = await server.call('PUT', `/api/v1/connections/${connectionId}`, { body });
    expect(answer.body.connection).to.include({ send_trace_context });
  };
  const call = (accountId: string, tool: string, input: object = {}) =>
    execute(server as never, accountId, tool, { ...input }, { headers: HEADERS });
  const raw = (accountId: string, target = '/raw') =>
    server.call('GET', `/api/v1/proxy${target}`, { headers: { ...HEADERS, 'valetkey-account-id': accountId } });
  const last = (): IncomingHttpHeaders => acme.requests.at(-1)?.headers ?? {};
  const expectNoTrace = (headers: IncomingHttpHeaders) =>
    expect(headers).not.to.have.any.keys('traceparent', 'tracestate', 'baggage');
  /** Expects that a request continues the caller's trace with a new span. @returns the id of this span */
  function expectTrace(headers: IncomingHttpHeaders): string {
    expect(headers).not.to.have.any.keys('tracestate', 'baggage');
    const [version, trace, span = '', flags] = String(headers['traceparent']).split('-');
    expect([version, trace, flags]).to.deep.equal(['00', TRACE, '01']);
    expect(span).not.to.equal(CALLER);
    return span;
  }

  before(async () => {
    acme = await startUpstream(({ target }, res) =>
      json(
        res,
        200,
        target === '/token' ? { access_token: 'machine-token', token_type: 'Bearer', expires_in: 60 } : {},
      ),
    );
    tools = await startRawMcpServer();
    tools.tools = [listed('look')];
    collector = await startUpstream();
  });
  beforeEach(() => {
    for (const { requests } of [acme, tools, collector]) requests.length = 0;
  });
  afterEach(async () => {
    if (server.child.exitCode === null) await server.stop('SIGKILL');
  });
  after(async () => {
    await Promise.all([acme.stop(), tools.stop(), collector.stop()]);
    folder.remove();
  });

  it('sends traceparent with tools and raw calls, in the trace of the caller, and names the span of the call', async () => {
    await start(true);
    const { id, account } = await createKeyedAccount(server);
    expect((await call(id, 'http_get', { path: '/' })).status).to.equal(200);
    expectNoTrace(last());
    expect((await raw(id)).status).to.equal(200);
    expectNoTrace(last());
    await set(account['connection_id'], true);
    await call(id, 'http_get', { path: '/' });
    const ofTool = expectTrace(last());
    await raw(id);
    const ofRawCall = expectTrace(last());
    await set(account['connection_id'], false);
    await call(id, 'http_get', { path: '/' });
    expectNoTrace(last());
    await server.stop();
    const spans = collector.requests
      .filter(({ target }) => target === '/v1/traces')
      .flatMap(({ body }) => JSON.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope: { spans: Span[] }) => scope.spans)) as Span[];
    for (const spanId of [ofTool, ofRawCall]) {
      expect(spans.find((span) => span.spanId === spanId)).to.include({ traceId: TRACE, kind: 3 });
    }
  });

  it('sends traceparent to an MCP server, also after the setting changes while its session is kept', async () => {
    await start(true);
    const { accountId, connectionId, sync } = await createMcpProvider(server, `${RAW_MCP_ORIGIN}/mcp`);
    await sync();
    const called = async () => {
      const answer = await call(accountId, LOOK);
      expect(answer.status, answer.text).to.equal(200);
      return tools.of('tools/call').at(-1)?.headers ?? {};
    };
    expectNoTrace(await called());
    await set(connectionId, true);
    expectTrace(await called());
    await set(connectionId, false);
    expectNoTrace(await called());
  });

  it('does not add it to token requests', async () => {
    await start(true);
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: KEYED_ORIGIN,
      auth_patterns: [{ type: 'OAUTH_M2M', fields: FIELDS, oauth_config: { token_uri: `${KEYED_ORIGIN}/token` } }],
    });
    const body = { connector: identifier, key_id: 'machine', send_trace_context: true };
    expect((await server.call('POST', '/api/v1/connections', { body })).body.connection.send_trace_context).to.equal(
      true,
    );
    const details = { client_id: 'machine-7', client_secret: 'secret-of-the-machine' };
    const { id } = await createAccount(server, {
      connector: 'machine',
      connectedAccount: { authorization_details: { static_auth: { details } } },
    });
    expect((await call(id, 'http_get', { path: '/' })).status).to.equal(200);
    const requested = acme.requests.filter(({ target }) => target === '/token');
    expect(requested).not.to.have.length(0);
    for (const { headers } of requested) expectNoTrace(headers);
    expectTrace(last());
  });

  it('sends nothing while OpenTelemetry is off, also not the headers of the caller', async () => {
    await start(false);
    const { id, account } = await createKeyedAccount(server);
    await set(account['connection_id'], true);
    await call(id, 'http_get', { path: '/' });
    expectNoTrace(last());
    expect((await raw(id)).status).to.equal(200);
    expectNoTrace(last());
  });
});
