import type { Socket } from 'node:net';
import { expect } from 'chai';
import { ByteBudget } from '../../core/budgets/byte-budget.ts';
import { BODIES } from '../../core/budgets.ts';
import type { Egress } from '../../core/net/egress.ts';
import { closeAll, egressTo, eventually, failureOf, get, serveRaw } from '../core/net/local.ts';
import { play } from './player.ts';
import type { Shape } from './shapes.ts';

const record = (type: number, bytes: string) => {
  const content = Buffer.from(bytes, 'hex');
  return Buffer.concat([Buffer.from([type, 3, 3, content.length >> 8, content.length & 0xff]), content]);
};

/** The responses of a server to a ClientHello (RFC 8446 §5). */
const HANDSHAKES: Shape[] = [
  { name: 'speaks HTTP', body: ['{}'] },
  { name: 'closes', start: null, end: 'close' },
  { name: 'resets', start: null, end: 'reset' },
  { name: 'says nothing', start: null, end: 'silence' },
  { name: 'sends noise', start: null, body: [Buffer.alloc(64 * 1024, 0xff)], end: 'silence' },
  { name: 'sends a fatal alert', start: null, body: [record(21, '0228')], end: 'silence' },
  {
    name: 'sends warnings for ever',
    start: null,
    body: [{ bytes: Buffer.concat(Array(512).fill(record(21, '015a'))), times: Number.POSITIVE_INFINITY }],
  },
  { name: 'sends half of a record', start: null, body: [record(22, '02000046').subarray(0, 7)], end: 'silence' },
  {
    name: 'announces a record beyond its bound',
    start: null,
    body: [Buffer.from('160303ffff', 'hex')],
    end: 'silence',
  },
  { name: 'offers TLS 1.0', start: null, body: [record(22, `0200002a0301${'00'.repeat(32)}00002f00`)], end: 'silence' },
  { name: 'drips its records', start: null, body: [{ bytes: '\u0016', times: Number.POSITIVE_INFINITY, everyMs: 5 }] },
];

const CALLS: Record<string, (egress: Egress, url: string) => Promise<unknown>> = {
  'a tool call': (egress, url) => egress.send(get(url)),
  'a raw call': (egress, url) => egress.stream(get(url)),
  'a call of a protocol': (egress, url) => egress.fetchLike(url, { method: 'POST', body: 'grant_type=x' }),
};

describe('a failing TLS handshake (E4, E8)', () => {
  afterEach(closeAll);

  for (const shape of HANDSHAKES) {
    it(`fails every call before anything of it is sent: a server that ${shape.name}`, async () => {
      const received: Buffer[] = [];
      const local = await serveRaw((socket: Socket) => {
        socket.on('data', (chunk) => received.push(chunk));
        socket.once('data', () => void play(socket, shape, { start: 'HTTP/1.1 200 OK', headers: [] }));
      });
      const budget = new ByteBudget(BODIES);
      const egress = egressTo(local, { bodies: budget.of('one'), limits: { connectTimeoutMs: 200 } });
      const url = `https://127.0.0.1:${local.port}/`;
      for (const call of Object.values(CALLS)) {
        const failure = await failureOf(call(egress, url));
        expect(failure.kind).to.be.oneOf(['tls', 'unreachable', 'timeout']);
        expect(failure.sent).to.equal(false);
      }
      expect(Buffer.concat(received).toString('latin1')).not.to.contain('grant_type');
      await eventually(() => local.open.size === 0);
      expect(budget.used).to.equal(0);
    });
  }
});
