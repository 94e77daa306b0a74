import { expect } from 'chai';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { execute } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { json, startUpstream, type Upstream, type UpstreamHandler } from '../support/upstream.ts';

interface Value {
  stringValue?: string;
  intValue?: number;
}
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Value }[];
  status: { code: number };
}
/** The messages of OTLP in their JSON encoding; the parts that the tests read. */
interface Sent {
  resourceSpans?: { resource: { attributes: { key: string; value: Value }[] }; scopeSpans: { spans: Span[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
  resourceLogs?: { scopeLogs: { logRecords: LogRecord[] }[] }[];
}
interface Metric {
  name: string;
  sum?: { isMonotonic: boolean; aggregationTemporality: number };
  gauge?: { dataPoints: object[] };
  histogram?: { dataPoints: { count: number; bucketCounts: number[]; explicitBounds: number[] }[] };
}
interface LogRecord {
  body: { stringValue: string };
  severityText: string;
  traceId?: string;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const INPUT = 'an-input-that-nobody-may-see';
const HEX_16 = /^[0-9a-f]{16}$/;

describe('telemetry over OTLP', () => {
  const folder = tempDir();
  let acme: Upstream;
  let collector: Upstream;
  let server: ChildServer | undefined;

  const start = (env: Record<string, string> = {}) =>
    startChildServer({
      DATA_DIR: folder.path,
      METRICS_PORT: '0',
      VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN),
      ...env,
    });
  const telemetry = () => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  const sent = (path: string): Sent[] =>
    collector.requests.filter(({ target }) => target === path).map(({ body }) => JSON.parse(body) as Sent);
  const spans = () =>
    sent('/v1/traces').flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  const attribute = (span: Span | undefined, name: string) => {
    const value = span?.attributes.find(({ key }) => key === name)?.value;
    return value?.stringValue ?? value?.intValue;
  };
  /** Calls a tool once, and stops the server, which then sends its queued data. */
  async function callAndStop(env: Record<string, string>): Promise<number> {
    server = await start(env);
    const { id } = await createKeyedAccount(server);
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    const { status } = await execute(
      server as never,
      id,
      'http_post',
      { path: '/a', body: { text: INPUT } },
      { headers },
    );
    await server.stop();
    return status;
  }

  before(async () => {
    acme = await startUpstream();
    collector = await startUpstream();
  });
  beforeEach(() => {
    collector.requests.length = 0;
    acme.requests.length = 0;
    collector.handler = (_request, res) => json(res, 200, {});
  });
  afterEach(async () => {
    if (server?.child.exitCode === null) await server.stop('SIGKILL');
  });
  after(async () => {
    await Promise.all([acme.stop(), collector.stop()]);
    folder.remove();
  });

  it('sends nothing without an endpoint, and warns that other variables have no effect', async () => {
    expect(await callAndStop({ OTEL_SERVICE_NAME: 'x', OTEL_BSP_SCHEDULE_DELAY: '1' })).to.equal(200);
    expect(collector.requests).to.deep.equal([]);
    const log = server?.logs.join('\n');
    expect(log).to.include('OTEL_EXPORTER_OTLP_ENDPOINT is not set');
    expect(log).to.include('OTEL_BSP_SCHEDULE_DELAY is not supported');
  });

  it('sends the spans of a request, its tool execution, its outbound call and its commits in the trace of the caller', async () => {
    expect(await callAndStop(telemetry())).to.equal(200);
    const trace = spans().filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => trace.find((span) => span.name === name);
    const request = named('POST /api/v1/execute_tool');
    const execution = named('execute_tool http_post');
    const outbound = named('POST');
    expect(request).to.include({ parentSpanId: 'b7ad6b7169203331', kind: 2 });
    expect(execution).to.include({ parentSpanId: request?.spanId, kind: 1 });
    expect(outbound).to.include({ parentSpanId: execution?.spanId, kind: 3 });
    expect(named('commit')).to.include({ kind: 1 });
    expect(trace.every(({ spanId }) => HEX_16.test(spanId))).to.equal(true);
    expect(attribute(request, 'http.response.status_code')).to.equal(200);
    expect(attribute(execution, 'gen_ai.operation.name')).to.equal('execute_tool');
    expect(attribute(execution, 'gen_ai.tool.name')).to.equal('http_post');
    expect(attribute(outbound, 'server.address')).to.equal(new URL(KEYED_ORIGIN).hostname);
    const [{ resourceSpans = [] } = {}] = sent('/v1/traces');
    const names = resourceSpans[0]?.resource.attributes.map(({ key }) => key);
    expect(names).to.include.members(['service.name', 'service.version', 'deployment.environment.name']);
  });

  it('sends the metrics of /metrics and the lines of the log, with their trace', async () => {
    await callAndStop(telemetry());
    const metrics = sent('/v1/metrics').flatMap(({ resourceMetrics = [] }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics)),
    );
    const named = (name: string) => metrics.find((metric) => metric.name === name);
    expect(named('valetkey_tool_executions_total')?.sum).to.include({ isMonotonic: true, aggregationTemporality: 2 });
    expect(named('valetkey_body_bytes')?.gauge?.dataPoints).to.have.length(1);
    const [point] = named('valetkey_http_request_duration_seconds')?.histogram?.dataPoints ?? [];
    expect(point?.bucketCounts).to.have.length((point?.explicitBounds.length ?? 0) + 1);
    expect(point?.bucketCounts.reduce((sum, count) => sum + Number(count), 0)).to.equal(Number(point?.count));
    const records = sent('/v1/logs').flatMap(({ resourceLogs = [] }) =>
      resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((scope) => scope.logRecords)),
    );
    expect(records.find(({ body }) => body.stringValue === 'listening')).to.include({ severityText: 'INFO' });
    expect(records.some(({ traceId }) => traceId === TRACE)).to.equal(true);
  });

  it('sends no input, secret or path, and passes no trace on to the provider', async () => {
    await callAndStop(telemetry());
    const everything = collector.requests.map(({ body }) => body).join('\n');
    expect(everything).to.include('http_post');
    for (const hidden of [INPUT, ACCOUNT_KEY, CLIENT_SECRET, `${KEYED_ORIGIN}/a`]) {
      expect(everything).not.to.include(hidden);
    }
    expect(acme.requests).to.have.length(1);
    expect(acme.requests[0]?.headers).not.to.have.any.keys('traceparent', 'tracestate', 'baggage');
  });

  const faults: Record<string, UpstreamHandler> = {
    'does not respond': () => {},
    'rejects everything': (_request, res) => json(res, 500, { message: 'no' }),
    'responds with garbage': (_request, res) => res.end('\u0000<<<not json'),
    'closes each connection': (_request, res) => res.destroy(),
    'responds without end': (_request, res) => {
      const more = () => res.write(Buffer.alloc(64 * 1024)) && setImmediate(more);
      res.on('drain', more);
      more();
    },
  };
  for (const [fault, handler] of Object.entries(faults)) {
    it(`serves requests and stops while the collector ${fault}`, async () => {
      collector.handler = handler;
      expect(await callAndStop(telemetry())).to.equal(200);
      expect(server?.child.exitCode).to.equal(0);
    });
  }

  it('serves requests while the collector cannot be reached', async () => {
    const closed = await startUpstream();
    await closed.stop();
    server = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${closed.port}`,
      OTEL_METRICS_EXPORTER: 'none',
    });
    expect((await server.call('GET', '/api/v1/providers')).status).to.equal(200);
    expect((await server.stop()).code).to.equal(0);
  });

  it('does not start with an endpoint that is not a URL, and names the variable', async () => {
    const failure = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    expect(failure).to.include('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL');
  });
});
