import { tracingChannel } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { SPANS, type SpanFacts } from '../../core/spans.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('the span of a request', () => {
  const channel = tracingChannel<unknown, SpanFacts>(SPANS);
  const ended: SpanFacts[] = [];
  const subscribers = {
    start() {},
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd: (span: SpanFacts) => ended.push(span),
  };
  const requests = () => ended.filter(({ kind }) => kind === 'server');
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    channel.subscribe(subscribers as never);
  });
  beforeEach(() => {
    ended.length = 0;
  });
  after(async () => {
    channel.unsubscribe(subscribers as never);
    await server.stop();
  });

  it('has the route instead of the path, and no query', async () => {
    await server.call('GET', '/api/v1/executions/exe_01k6p3vz1y2x3w4v5t6s7r8q9p?secret=a-secret-query');
    const [span] = requests();
    expect(span?.name).to.equal('GET /api/v1/executions/{execution_id}');
    expect(span?.attributes).to.include({ 'http.request.method': 'GET', 'http.response.status_code': 400 });
    expect(span?.failure).to.equal(undefined);
    expect(JSON.stringify(span)).not.to.match(/a-secret-query|01k6p3vz1y2x3w4v5t6s7r8q9p/);
  });

  it('does not contain a path of no operation', async () => {
    await server.call('GET', '/api/v1/a-secret-path');
    expect(JSON.stringify(requests())).not.to.include('a-secret-path');
  });

  it('has the method of an MCP message, if it is a method name', async () => {
    const { id } = await createConnection(server, { connector: 'github' });
    const token = await sessionToken(server, id, { user_id: 'user-1', identifier: 'ada' });
    ended.length = 0;
    await rawMcp(server, id, { token, method: 'tools/list' });
    await rawMcp(server, id, { token, method: 'a secret text' });
    const [known, unknown] = requests().map(({ name, attributes }) => [name, attributes['mcp.method.name']]);
    expect(known).to.deep.equal(['tools/list', 'tools/list']);
    expect(unknown?.[1]).to.equal(undefined);
    expect(unknown?.[0]).to.match(/^POST /);
  });

  it('contains a span in the trace that an MCP message names, and only then', async () => {
    const { id } = await createConnection(server, { connector: 'github' });
    const token = await sessionToken(server, id, { user_id: 'user-1', identifier: 'ada' });
    const spansOf = async (_meta: object) => {
      ended.length = 0;
      expect((await rawMcp(server, id, { token, params: { _meta } })).status).to.equal(200);
      return requests().map(({ name, parent }) => [name, parent]);
    };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const request = ['tools/list', undefined];
    expect(await spansOf({})).to.deep.equal([request]);
    expect(await spansOf({ traceparent: 7 })).to.deep.equal([request]);
    expect(await spansOf({ traceparent })).to.deep.equal([['tools/list', traceparent], request]);
  });
});
