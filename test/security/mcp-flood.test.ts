import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ApiError } from '../../core/errors.ts';
import { createSyncTurns } from '../../core/mcp/upstream/sync-turns.ts';
import { manualTimers, until } from '../support/manual-timer.ts';
import type { McpProvider } from '../support/mcp-provider.ts';
import { event, events, listed, type RawMcpServer, type RawRequest, result } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';

const MIB = 2 ** 20;

describe('an MCP server that sends more than it should', () => {
  let upstream: RawMcpServer;
  let provider: McpProvider;
  let world: RawMcpWorld;
  const timers = manualTimers();

  before(async () => {
    world = await startRawMcpWorld({ overrides: { syncTurns: createSyncTurns(timers.timer) } });
    ({ upstream, provider } = world);
  });
  beforeEach(() => world.reset());
  after(() => world.stop());

  const on: RawMcpWorld['on'] = (method, respond) => world.on(method, respond);
  const run = () => world.look();

  describe('H8: in a list of tools', () => {
    /** A list in which every page has a tool of this size and names another page. */
    const endless = (bytes: number) =>
      on('tools/list', ({ message }, res) => {
        const page = Number(message?.params.cursor ?? 0);
        const tools = [listed(`tool-${page}`, { description: 'x'.repeat(bytes) })];
        result(res, message as never, { tools, nextCursor: String(page + 1) });
      });

    it('is stopped after 4 MB', async () => {
      endless(MIB);
      const { body } = await provider.sync();
      expect(body).to.include({ status: 502, code: 'TOOLS_NOT_LISTED', detail: 'The MCP server sent too many bytes.' });
      expect(upstream.of('tools/list')).to.have.length(4);
    });

    it('is stopped within a page', async () => {
      let written = 0;
      on('tools/list', (_request, res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        const write = () => {
          while (!res.destroyed && written < 64 * MIB && res.write(Buffer.alloc(65_536, ' '))) written += 65_536;
        };
        res.on('drain', write);
        write();
      });
      expect((await provider.sync()).body.code).to.equal('TOOLS_NOT_LISTED');
      expect(written).to.be.below(32 * MIB);
    });

    it('is stopped after 100 pages', async () => {
      endless(1);
      const { body } = await provider.sync();
      expect(body.detail).to.equal('The MCP server lists its tools on more than 100 pages.');
      expect(upstream.of('tools/list')).to.have.length(100);
    });

    it('is read up to 1,000 tools; the report counts the others', async () => {
      on('tools/list', ({ message }, res) =>
        result(res, message as never, {
          tools: [listed('look'), ...Array.from({ length: 1010 }, (_, at) => listed(`tool-${at}`))],
        }),
      );
      const { body } = await provider.sync();
      expect(body.tools).to.equal(1000);
      expect(body.left_out).to.deep.equal([
        { tool: '#1001 to #1011', reason: 'the server lists 1011 tools, but only 1000 are read' },
      ]);
    });

    it('has a minute in total, and its stored tools do not change', async () => {
      on('tools/list', () => {});
      const synced = provider.sync();
      await until(() => upstream.of('tools/list').length > 0);
      expect(timers.running).to.deep.equal([60_000]);
      timers.fire(60_000);
      expect((await synced).body).to.include({ status: 502, code: 'TOOLS_NOT_LISTED' });
      upstream.on = () => false;
      expect((await run()).status).to.equal(200);
    });
  });

  describe('in the response to a call', () => {
    const flood = (write: (request: RawRequest, res: ServerResponse) => void) => on('tools/call', write);
    const expectStopped = async (what: string) => {
      const { body } = await run();
      expect(body).to.include({ status: 502, code: 'TOOL_FAILED' });
      expect(body.tool_error).to.include({
        kind: 'upstream_invalid_response',
        message: `The MCP server sent too many ${what}.`,
      });
      upstream.on = () => false;
      expect((await run()).status).to.equal(200);
    };

    it('is stopped after 2 MB', async () => {
      flood(({ message }, res) =>
        result(res, message as never, { content: [{ type: 'text', text: 'x'.repeat(2 * MIB) }] }),
      );
      await expectStopped('bytes');
    });

    it('is stopped after 1,000 messages', async () => {
      flood(({ message }, res) => {
        events(res);
        for (let count = 0; count < 1001; count++)
          event(res, { method: 'notifications/message', params: { level: 'info', data: count } });
        event(res, { id: message?.id, result: { content: [] } });
        res.end();
      });
      await expectStopped('messages');
    });

    it('is stopped after 20,000 lines', async () => {
      flood((_request, res) => {
        events(res);
        res.end(':\n'.repeat(20_001));
      });
      await expectStopped('lines');
    });

    it('is stopped by the number of its values, before they are created', async () => {
      flood(({ message }, res) =>
        result(res, message as never, { content: [], structuredContent: { list: Array(100_000).fill(0) } }),
      );
      await expectStopped('values');
    });

    it('is stopped by its depth, before it is parsed', async () => {
      flood(({ message }, res) => {
        const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
        res.writeHead(200, { 'content-type': 'application/json' });
        res.end(`{"jsonrpc":"2.0","id":${message?.id},"result":{"content":[],"structuredContent":${deep}}}`);
      });
      await expectStopped('levels of nesting');
    });

    it('may be in pieces of a byte, with every kind of line ending', async () => {
      flood(({ message }, res) => {
        events(res);
        const end = { 0: '\r\n', 1: '\r', 2: '\n' };
        const text = {
          jsonrpc: '2.0',
          id: message?.id,
          result: { content: [{ type: 'text', text: 'žluť\u2028\r\n' }] },
        };
        const lines = [': a comment', 'event: message', `data: ${JSON.stringify(text)}`, ''];
        const bytes = Buffer.from(lines.map((line, at) => line + end[(at % 3) as 0]).join(''));
        for (const byte of bytes) res.write(Buffer.from([byte]));
        res.end();
      });
      expect((await run()).body.data.content[0].text).to.equal('žluť\u2028\r\n');
    });
  });

  describe('X14: with invalid protocol messages', () => {
    for (const [what, write] of Object.entries<(request: RawRequest, res: ServerResponse) => unknown>({
      'a page': (_request, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Zod</html>'),
      'text that is not JSON': (_request, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'a list of numbers': (_request, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('[1,2]'),
      'a response to another request': (_request, res) => result(res, { id: 'other' } as never, {}),
      'a result that is a text': ({ message }, res) => result(res, message as never, 'done'),
      'nothing at all': (_request, res) => res.writeHead(200).end(),
      'a status without a body': (_request, res) => res.writeHead(204).end(),
    })) {
      it(`fails with our own text: ${what}`, async () => {
        for (const method of ['tools/call', 'tools/list']) {
          on(method, write);
          const { body } = method === 'tools/call' ? await run() : await provider.sync();
          expect(body.status, method).to.equal(502);
          expect(body.detail, method).to.match(/^The MCP server (sent|returned|ended)[^[{]*\.$/);
          expect(body.detail).to.not.match(/zod|sdk|endpoint|stream/i);
        }
      });
    }

    it('accepts any content that a tool returns', async () => {
      on('tools/call', ({ message }, res) =>
        result(res, message as never, {
          content: [{ type: 'hologram', of: 1 }, null, 'text'],
          structuredContent: ['a', 1],
        }),
      );
      expect((await run()).body.data).to.deep.equal(['a', 1]);
      on('tools/call', ({ message }, res) => result(res, message as never, { content: 'text' }));
      expect((await run()).body.data).to.deep.equal({ content: [] });
    });
  });
});

describe('H8: lists of tools are read in turns', () => {
  /** Starts tasks that end when the test ends them. */
  function turnsOf() {
    const turns = createSyncTurns(manualTimers().timer);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const begin = (environment: string, name: string) =>
      turns.run(environment, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    return { begin, begun, end: (name: string) => ends.get(name)?.() };
  }

  it('one at a time; an environment with many delays another one by a single list', async () => {
    const { begin, begun, end } = turnsOf();
    const all = [begin('a', 'a1'), begin('a', 'a2'), begin('a', 'a3'), begin('b', 'b1'), begin('c', 'c1')];
    expect(begun).to.deep.equal(['a1']);
    for (const [at, name] of ['a1', 'a2', 'b1', 'c1', 'a3'].entries()) {
      await until(() => begun.length === at + 1);
      expect(begun.at(-1)).to.equal(name);
      end(name);
    }
    await Promise.all(all);
  });

  it('continues after one that fails', async () => {
    const turns = createSyncTurns(manualTimers().timer);
    const failed = turns.run('a', () => Promise.reject(new Error('no'))).catch((error) => error.message);
    expect(await turns.run('a', async () => 'next')).to.equal('next');
    expect(await failed).to.equal('no');
  });

  it('refuses when too many wait, and keeps the slots of other environments free', async () => {
    const { begin } = turnsOf();
    for (let count = 0; count < 20; count++) void begin('a', `a${count}`);
    const refused = await begin('a', 'one too many').catch((error) => error);
    expect(refused).to.be.an.instanceOf(ApiError).and.to.include({ code: 'RATE_LIMITED' });
    void begin('b', 'b1');
  });
});
