import { expect } from 'chai';
import { MCP_UPSTREAM, RESPONSE, THREADS } from '../../core/budgets.ts';
import { JobLimitError } from '../../core/threads/job.ts';
import { createThreadPool, type ThreadPool } from '../../core/threads/pool.ts';
import { createThreads, type Threads } from '../../core/threads/threads.ts';
import { until } from '../support/manual-timer.ts';
import type { McpProvider } from '../support/mcp-provider.ts';
import { event, events, json, listed, type RawMcpServer } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';
import type { TestServer } from '../support/server.ts';

const TOKEN = 'upstream-token-0123456789';

describe('H7: a large message of an MCP server', () => {
  let upstream: RawMcpServer;
  let server: TestServer;
  let provider: McpProvider;
  let world: RawMcpWorld;
  let threads: Threads;
  let pool: ThreadPool;
  let jobs: number;
  /** How the pool runs a job. Tests can replace it. */
  let run: ThreadPool['run'];

  before(async () => {
    threads = createThreads();
    pool = threads.responses;
    const counting: ThreadPool = {
      run: (...args) => {
        jobs++;
        return run(...args);
      },
      close: pool.close,
    };
    run = pool.run;
    world = await startRawMcpWorld({ token: TOKEN, overrides: { threads: { ...threads, responses: counting } } });
    ({ upstream, server, provider } = world);
  });
  beforeEach(() => {
    world.reset();
    jobs = 0;
    run = pool.run;
  });
  after(() => world.stop());

  const on: RawMcpWorld['on'] = (method, respond) => world.on(method, respond);
  /** Makes the server respond to the next calls with this result, written as JSON. */
  const respondWith = (result: string) =>
    on('tools/call', ({ message }, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${message?.id},"result":${result}}`),
    );
  const look = () => world.look();
  const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join()}}`;

  it('is read in a thread when it is long or holds many values, and a small one is not', async () => {
    for (const [structured, expected] of [
      [members(10), 0],
      [members(RESPONSE.inlineNodes), 1],
      [`{"text":"${'a'.repeat(RESPONSE.inlineBytes)}"}`, 1],
    ] as const) {
      jobs = 0;
      respondWith(`{"content":[],"structuredContent":${structured}}`);
      const answer = await look();
      expect(answer.status, answer.text).to.equal(200);
      expect(JSON.stringify(answer.body.data)).to.equal(structured);
      expect(jobs).to.equal(expected);
    }
  });

  it('is truncated and redacted in the thread like any other', async () => {
    const items = Array.from({ length: 20_000 }, (_, at) => ({ at, echo: at === 3 ? TOKEN : 'nothing' }));
    respondWith(JSON.stringify({ content: [], structuredContent: { items } }));
    const answer = await look();
    expect(answer.body.truncated).to.equal(true);
    expect(answer.body.data.items[3]).to.deep.equal({ at: 3, echo: '[secret]' });
    expect(answer.text).not.to.contain(TOKEN);

    respondWith(
      JSON.stringify({ isError: true, content: [{ type: 'text', text: `${TOKEN} ${'x'.repeat(100_000)}` }] }),
    );
    const failure = await look();
    expect(failure.body.tool_error).to.include({ kind: 'upstream_bad_request' });
    expect(failure.text).not.to.contain(TOKEN);
    expect(jobs).to.equal(2);
  });

  it('is read in a thread when it is an error, a message of a stream, or part of a batch', async () => {
    const long = 'x'.repeat(RESPONSE.inlineBytes);
    on('tools/call', ({ message }, res) =>
      json(res, 200, { jsonrpc: '2.0', id: message?.id, error: { code: -32602, message: long } }),
    );
    expect((await look()).body.tool_error).to.include({ kind: 'upstream_bad_request' });
    expect(jobs).to.equal(1);

    on('tools/call', ({ message }, res) => {
      events(res);
      event(res, { method: 'notifications/message', params: { level: 'info', data: long } });
      event(res, { id: message?.id, result: { content: [], structuredContent: { long: 1 } } });
    });
    expect((await look()).body.data).to.deep.equal({ long: 1 });
    expect(jobs).to.equal(2);

    on('tools/call', ({ message }, res) =>
      json(res, 200, [
        { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: long } },
        { jsonrpc: '2.0', id: message?.id, result: { content: [], structuredContent: { batch: 1 } } },
      ]),
    );
    expect((await look()).body.data).to.deep.equal({ batch: 1 });
    expect(jobs).to.equal(3);
  });

  it('is read in a thread when it is a list of tools, which is stored up to the limit of tools', async () => {
    upstream.tools = [
      ...Array.from({ length: MCP_UPSTREAM.tools - 1 }, (_, at) => listed(`tool-${at}`)),
      { description: 'It has no name.' },
      ...Array.from({ length: 2_000 }, () => 0),
    ];
    const { status, text, body } = await provider.sync();
    expect(status, text).to.equal(200);
    expect(jobs).to.equal(1);
    const leftOut = JSON.stringify(body);
    expect(leftOut).to.contain('it has no name');
    expect(leftOut).to.contain(`the server lists ${MCP_UPSTREAM.tools + 2_000} tools`);
    upstream.tools = [listed('look')];
    expect((await provider.sync()).status).to.equal(200);
  });

  it('with too many values or levels is a fault of the server', async () => {
    const levels = MCP_UPSTREAM.messageLevels * 1_000;
    for (const [structured, words] of [
      [members(MCP_UPSTREAM.messageNodes), 'too many values'],
      [`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`, 'levels'],
      [`{"a":"${'a'.repeat(RESPONSE.inlineBytes)}`, 'not JSON'],
    ] as const) {
      respondWith(`{"content":[],"structuredContent":${structured}}`);
      const answer = await look();
      expect(answer.body.tool_error).to.include({ kind: 'upstream_invalid_response' });
      expect(answer.body.tool_error.message).to.contain(words);
    }
    on('tools/call', (_request, res) => json(res, 200, Array(MCP_UPSTREAM.messages * 20).fill({ method: 'a' })));
    expect((await look()).body.tool_error.message).to.contain('too many messages');
    expect(jobs).to.equal(4);
  });

  it('that cannot be read in a thread is an outcome, since the call was sent', async () => {
    const large = `{"content":[],"structuredContent":${members(RESPONSE.inlineNodes)}}`;
    for (const reason of ['time', 'memory'] as const) {
      run = () => Promise.reject(new JobLimitError(reason));
      respondWith(large);
      const answer = await look();
      expect(answer.body.tool_error).to.include({ kind: 'upstream_invalid_response' });
      expect(answer.body.tool_error.message).to.contain(`too much ${reason}`);
    }
    run = createThreadPool({ ...THREADS, ...RESPONSE, places: 0 }).run;
    respondWith(large);
    const busy = await look();
    expect([busy.status, busy.body.code]).to.deep.equal([503, 'SERVER_BUSY']);
    expect(busy.body.tool_error).to.include({ kind: 'service_busy' });
  });

  it('does not delay other requests while it is read, and uses no memory afterwards', async () => {
    const held = Promise.withResolvers<void>();
    run = (...args) => held.promise.then(() => pool.run(...args));
    respondWith(`{"content":[],"structuredContent":${members(RESPONSE.inlineNodes)}}`);
    const slow = look();
    await until(() => jobs > 0);
    upstream.on = () => false;
    expect((await look()).status).to.equal(200);
    expect((await server.call('GET', '/healthz')).status).to.equal(200);
    expect(server.parts.bodies.used).to.be.above(0);
    held.resolve();
    expect((await slow).status).to.equal(200);
    await until(() => server.parts.bodies.used === 0);
  });
});
