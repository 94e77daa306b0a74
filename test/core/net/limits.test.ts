import type { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { EgressLimits } from '../../../core/net/limits.ts';
import { closeAll, egressTo, eventually, failureOf, get, type Local, serve, serveRaw } from './local.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const KB = 1024;

/** A server that responds to each request with the bytes that a function writes. */
function answering(write: (socket: Socket) => void): Promise<Local> {
  return serveRaw((socket) => socket.once('data', () => write(socket)));
}

function compressed(coding: string, body: Buffer): Promise<Local> {
  return serve((_request, response) => response.setHeader('content-encoding', coding).end(body));
}

describe('limits of a response (E4)', () => {
  afterEach(closeAll);

  /** Returns the error of a call, after checking that its socket is closed. */
  async function failure(local: Local, limits: Partial<EgressLimits>) {
    const error = await failureOf(egressTo(local, { limits }).send(get(local.origin)));
    expect(error.sent).to.equal(true);
    await eventually(() => local.open.size === 0);
    return error;
  }

  describe('size', () => {
    it('takes a body of exactly the limit, in one piece and in many', async () => {
      const local = await serve((request, response) => {
        if (request.url === '/whole') return response.end(Buffer.alloc(64 * KB, 'a'));
        for (let piece = 0; piece < 64; piece++) response.write(Buffer.alloc(KB, 'a'));
        return response.end();
      });
      const egress = egressTo(local, { limits: { maxBytes: 64 * KB } });
      for (const path of ['/whole', '/pieces']) {
        const { body } = await egress.send(get(local.origin + path));
        expect(body.equals(Buffer.alloc(64 * KB, 'a')), path).to.equal(true);
      }
    });

    it('refuses one byte more, announced or not, and refuses an announced one before it is sent', async () => {
      const limits = { maxBytes: 8 * KB };
      const chunked = await answering((socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n2001\r\n${'a'.repeat(8 * KB + 1)}\r\n0\r\n\r\n`);
      });
      expect((await failure(chunked, limits)).kind).to.equal('too_large');
      const announced = await answering((socket) => socket.write(`${HEAD}content-length: ${8 * KB + 1}\r\n\r\n`));
      expect((await failure(announced, limits)).kind).to.equal('too_large');
    });

    it('stops an endless body', async () => {
      const local = await serve((_request, response) => {
        const write = () => {
          while (response.write(Buffer.alloc(KB)));
        };
        response.on('drain', write);
        write();
      });
      expect((await failure(local, { maxBytes: 64 * KB })).kind).to.equal('too_large');
    });

    it('does not use an object for each tiny chunk of a body', async () => {
      const tiny = '1\r\na\r\n'.repeat(200_000);
      const local = await answering((socket) =>
        socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n${tiny}0\r\n\r\n`),
      );
      const { body } = await egressTo(local).send(get(local.origin));
      expect(body.length).to.equal(200_000);
      expect(body.buffer.byteLength).to.be.below(2 * 200_000 + 1);
    });

    it('lets a call set another limit', async () => {
      const local = await serve((_request, response) => response.end('12345'));
      const egress = egressTo(local);
      expect((await failureOf(egress.send(get(local.origin, { maxBytes: 4 })))).kind).to.equal('too_large');
      expect((await egress.send(get(local.origin, { maxBytes: 5 }))).body).to.have.length(5);
    });

    it('refuses a header beyond its limit, in one line or in many', async () => {
      const limits = { maxHeaderBytes: 4 * KB };
      const one = await answering((socket) => socket.write(`${HEAD}x: ${'a'.repeat(4 * KB)}\r\n\r\n`));
      expect((await failure(one, limits)).kind).to.equal('too_large');
      const many = await answering((socket) => socket.write(HEAD + 'x-name: some value\r\n'.repeat(400)));
      expect((await failure(many, limits)).kind).to.equal('too_large');
    });

    it('takes a header of 60 KiB by default', async () => {
      const local = await answering((socket) =>
        socket.end(`${HEAD}x: ${'a'.repeat(60 * KB)}\r\ncontent-length: 0\r\n\r\n`),
      );
      expect((await egressTo(local).send(get(local.origin))).headers['x']).to.have.length(60 * KB);
    });
  });

  describe('inflation', () => {
    const text = Buffer.from(
      JSON.stringify({ items: Array.from({ length: 200 }, (_, id) => ({ id, name: `n${id}` })) }),
    );

    for (const [coding, pack] of [
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['GZIP', gzipSync],
      ['br', brotliCompressSync],
      ['deflate', deflateSync],
      ['deflate', deflateRawSync],
      ['identity', (body: Buffer) => body],
    ] as const) {
      it(`decodes ${coding} by ${pack.name || 'nothing'}`, async () => {
        const local = await compressed(coding, pack(text));
        const answer = await egressTo(local).send(get(local.origin));
        expect(answer.body.equals(text)).to.equal(true);
        expect(answer.headers).not.to.have.any.keys('content-encoding', 'content-length');
      });
    }

    it('asks for gzip and br unless the call asks for something else', async () => {
      const local = await serve((request, response) => response.end(request.headers['accept-encoding']));
      const egress = egressTo(local);
      expect((await egress.send(get(local.origin))).body.toString()).to.equal('gzip, br');
      const headers = { 'Accept-Encoding': 'identity' };
      expect((await egress.send(get(local.origin, { headers }))).body.toString()).to.equal('identity');
    });

    for (const [coding, pack] of [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['deflate', deflateSync],
    ] as const) {
      it(`refuses a ${coding} bomb by its size and by its ratio`, async () => {
        const bomb = pack(Buffer.alloc(1024 * KB));
        expect(bomb.length).to.be.below(8 * KB);
        const local = await compressed(coding, bomb);
        const bySize = { maxBytes: 512 * KB, ratioFloorBytes: 1024 * KB };
        const byRatio = { maxBytes: 2048 * KB, ratioFloorBytes: 4 * KB, maxRatio: 100 };
        for (const limits of [bySize, byRatio]) {
          const error = await failureOf(egressTo(local, { limits }).send(get(local.origin)));
          expect(error).to.include({ kind: 'too_large', sent: true });
        }
        const enough = { maxBytes: 1024 * KB, ratioFloorBytes: 1024 * KB };
        expect((await egressTo(local, { limits: enough }).send(get(local.origin))).body).to.have.length(1024 * KB);
      });
    }

    it('refuses an unknown coding, several codings, and bytes that do not match the coding', async () => {
      for (const [coding, body] of [
        ['zstd', text],
        ['gzip, gzip', gzipSync(gzipSync(text))],
        ['gzip', text],
        ['gzip', gzipSync(text).subarray(0, 40)],
        ['br', text],
      ] as const) {
        const local = await compressed(coding, body);
        const error = await failureOf(egressTo(local).send(get(local.origin)));
        expect(error, coding).to.include({ kind: 'invalid_response', sent: true });
      }
    });

    it('accepts responses without a body', async () => {
      const local = await serve((request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.statusCode = request.method === 'HEAD' ? 200 : Number(request.url?.slice(1));
        response.end();
      });
      const egress = egressTo(local);
      expect((await egress.send(get(local.origin, { method: 'HEAD' }))).body).to.have.length(0);
      for (const status of [200, 204, 304]) {
        const answer = await egress.send(get(`${local.origin}/${status}`));
        expect(answer).to.deep.include({ status, body: Buffer.alloc(0) });
      }
    });

    it('does not treat the Content-Length of a response to HEAD as the length of its body', async () => {
      const local = await serve((_request, response) => response.setHeader('content-length', 1e9).end());
      const answer = await egressTo(local).send(get(local.origin, { method: 'HEAD' }));
      expect(answer.headers['content-length']).to.equal('1000000000');
    });
  });

  describe('time', () => {
    it('ends a call when the server sends nothing', async () => {
      const local = await serve(() => {});
      expect((await failure(local, { timeoutMs: 150 })).kind).to.equal('timeout');
    });

    it('ends a call when the server stops in the middle', async () => {
      const local = await answering((socket) => socket.write(`${HEAD}content-length: 10\r\n\r\n12345`));
      const error = await failure(local, { idleTimeoutMs: 50 });
      expect(error.kind).to.equal('timeout');
      expect(error.message).to.contain('arrived for 50 ms');
    });

    it('does not count interim responses as the beginning of the response', async () => {
      const local = await answering((socket) => {
        socket.write('HTTP/1.1 103 Early Hints\r\n\r\n');
        setTimeout(() => socket.end(`${HEAD}content-length: 0\r\n\r\n`), 60);
      });
      const answer = await egressTo(local, { limits: { idleTimeoutMs: 20 } }).send(get(local.origin));
      expect(answer.status).to.equal(200);
    });

    it('ends a call when the server sends slowly without a pause', async () => {
      const drips: NodeJS.Timeout[] = [];
      const local = await answering((socket) => {
        socket.write(`${HEAD}content-length: 1000000\r\n\r\n`);
        drips.push(setInterval(() => socket.write('a'), 5));
      });
      const error = await failure(local, { timeoutMs: 150 });
      drips.forEach(clearInterval);
      expect(error.kind).to.equal('timeout');
      expect(error.message).to.contain('not finish within 150 ms');
    });

    it('accepts a slow response as long as it does not stall', async () => {
      const local = await answering((socket) => {
        let left = 14;
        socket.write(`${HEAD}content-length: ${left}\r\n\r\n`);
        const drip = setInterval(() => {
          socket.write('a');
          if (--left === 0) clearInterval(drip);
        }, 40);
      });
      const answer = await egressTo(local, { limits: { idleTimeoutMs: 500 } }).send(get(local.origin));
      expect(answer.body).to.have.length(14);
    });

    it('ends a call when the server sends its header slowly', async () => {
      const drips: NodeJS.Timeout[] = [];
      const local = await answering((socket) => {
        socket.write(HEAD);
        drips.push(setInterval(() => socket.write('x: y\r\n'), 5));
      });
      const error = await failure(local, { timeoutMs: 150 });
      drips.forEach(clearInterval);
      expect(error.kind).to.equal('timeout');
    });

    it('lets a call set another limit', async () => {
      const local = await serve(() => {});
      const error = await failureOf(egressTo(local).send(get(local.origin, { timeoutMs: 20 })));
      expect(error.message).to.contain('20 ms');
    });

    it('stops when the caller stops, before and during the call, and closes the socket', async () => {
      const local = await serve(() => {});
      const egress = egressTo(local);
      const before = await failureOf(egress.send(get(local.origin, { signal: AbortSignal.abort() })));
      expect(before).to.include({ kind: 'aborted', sent: false });
      expect(local.connections).to.equal(0);

      const caller = new AbortController();
      const call = failureOf(egress.send(get(local.origin, { signal: caller.signal })));
      await eventually(() => local.requests.length === 1);
      caller.abort();
      expect(await call).to.include({ kind: 'aborted', sent: true });
      await eventually(() => local.open.size === 0);
    });
  });

  describe('form', () => {
    for (const [what, bytes] of [
      ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['a control character in a header', `${HEAD}x: a\0b\r\n\r\n`],
      ['two lengths', `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
      ['a length and chunks', `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a broken chunk', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`],
      [
        'an upgrade that was not requested',
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      ],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const local = await answering((socket) => socket.end(bytes));
        const error = await failureOf(egressTo(local).send(get(local.origin)));
        expect(error.kind).to.be.oneOf(['invalid_response', 'unreachable']);
        expect(error.sent).to.equal(true);
      });
    }

    it('refuses a body that ends early', async () => {
      const local = await answering((socket) => socket.end(`${HEAD}content-length: 10\r\n\r\n12345`));
      const error = await failureOf(egressTo(local).send(get(local.origin)));
      expect(error).to.include({ kind: 'invalid_response', sent: true });
    });

    it('reports that the call may have been received when the connection ends without a response', async () => {
      for (const end of ['end', 'destroy'] as const) {
        const local = await answering((socket) => socket[end]());
        const error = await failureOf(egressTo(local).send(get(local.origin)));
        expect(error).to.include({ kind: 'unreachable', sent: true });
      }
    });

    it('returns header names in lower case and lists for repeated names, and skips interim responses', async () => {
      const local = await answering((socket) => {
        socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
        socket.end(`${HEAD}X-One: 1\r\nSet-Cookie: a\r\nset-cookie: b\r\n__proto__: c\r\ncontent-length: 0\r\n\r\n`);
      });
      const { headers } = await egressTo(local).send(get(local.origin));
      expect(Object.entries(headers)).to.deep.equal([
        ['x-one', '1'],
        ['set-cookie', ['a', 'b']],
        ['__proto__', 'c'],
        ['content-length', '0'],
      ]);
    });
  });
});
