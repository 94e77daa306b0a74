import { expect } from 'chai';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { type Collector, type Signal, schemaProblems, startCollector } from '../support/otlp-collector.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

interface Traces {
  resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[];
}

describe('telemetry at a collector of another vendor', () => {
  const folder = tempDir();
  let acme: Upstream;
  let collector: Collector;
  let server: ChildServer | undefined;

  before(async () => {
    [acme, collector] = await Promise.all([startUpstream(), startCollector()]);
    server = await startChildServer({
      DATA_DIR: folder.path,
      METRICS_PORT: '0',
      VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const { id } = await createKeyedAccount(server);
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    const call = { path: '/a', body: { text: 'hello' } };
    expect((await execute(server as never, id, 'http_post', call, { headers })).status).to.equal(200);
    // When a server stops, it sends the queued data.
    await server.stop();
  });
  after(async () => {
    if (server?.child.exitCode === null) await server.stop('SIGKILL');
    await Promise.all([acme?.stop(), collector?.stop()]);
    folder.remove();
  });

  const spans = ({ resourceSpans }: Traces) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));

  for (const signal of ['traces', 'metrics', 'logs'] satisfies Signal[]) {
    it(`receives ${signal}, which agree with the schema of OpenTelemetry`, () => {
      expect(collector.received[signal]).not.to.deep.equal([]);
      for (const message of collector.received[signal]) expect(schemaProblems(signal, message)).to.deep.equal([]);
    });
  }

  it('receives the trace of the caller with the spans of its call', () => {
    const trace = (collector.received.traces as Traces[]).flatMap(spans).filter(({ traceId }) => traceId === TRACE);
    const names = trace.map(({ name }) => name);
    expect(names).to.include.members(['POST /api/v1/execute_tool', 'execute_tool http_post', 'POST', 'commit']);
    for (const { startTimeUnixNano, endTimeUnixNano } of trace) {
      expect(BigInt(endTimeUnixNano as string) >= BigInt(startTimeUnixNano as string)).to.equal(true);
    }
  });

  const damages: Record<string, (span: Record<string, unknown>) => void> = {
    'a field that the schema does not have': (span) => {
      span['start_time'] = '1';
    },
    'a time that is not a number': (span) => {
      span['startTimeUnixNano'] = 'soon';
    },
    'an attribute that is not a typed value': (span) => {
      span['attributes'] = [{ key: 'a', value: 'text' }];
    },
    'a kind that does not exist': (span) => {
      span['kind'] = 'SERVER';
    },
    'a trace id that is not hexadecimal': (span) => {
      span['traceId'] = 'x'.repeat(32);
    },
    'a span id of the wrong length': (span) => {
      span['spanId'] = 'ab';
    },
  };
  for (const [damage, change] of Object.entries(damages)) {
    it(`the schema rejects ${damage}`, () => {
      const message = structuredClone(collector.received.traces[0]) as Traces;
      change(spans(message)[0] as Record<string, unknown>);
      let problems: string[];
      try {
        problems = schemaProblems('traces', message);
      } catch (error) {
        problems = [(error as Error).message];
      }
      expect(problems).not.to.deep.equal([]);
    });
  }
});
