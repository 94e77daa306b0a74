import { expect } from 'chai';
import { ByteBudget } from '../../core/budgets/byte-budget.ts';
import { BODIES } from '../../core/budgets.ts';
import type { Egress } from '../../core/net/egress.ts';
import { closeAll, egressTo, eventually, failureOf, get, type Local, serveRaw } from '../core/net/local.ts';

const RESPONSE = Buffer.from(
  'HTTP/1.1 103 Hint\r\nlink: <x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n' +
    '7\r\n{"a":1,\r\n6\r\n"b":2}\r\n0\r\nx-end: 1\r\n\r\n',
);
const CALLS: Record<string, (egress: Egress, url: string) => Promise<unknown>> = {
  'a tool call': (egress, url) => egress.send(get(url)),
  'a raw call': async (egress, url) => (await egress.stream(get(url))).body.toArray(),
  'a call of a protocol': (egress, url) => egress.protocol(url),
};

describe('a response that is cut off at any byte (E4)', () => {
  afterEach(closeAll);

  /** Sends the first bytes of a response and ends the connection, both as the request path says. */
  function serveCut(): Promise<Local> {
    return serveRaw((socket) => {
      socket.once('data', (request) => {
        const [, bytes, end] = /^GET \/(\d+)\/(\w+)/.exec(request.toString()) ?? [];
        socket.write(RESPONSE.subarray(0, Number(bytes)));
        if (end === 'reset') socket.resetAndDestroy();
        else socket.end();
      });
    });
  }

  for (const [name, call] of Object.entries(CALLS)) {
    it(`makes ${name} fail with that reason, and leaves no resources behind`, async () => {
      const local = await serveCut();
      const budget = new ByteBudget(BODIES);
      const egress = egressTo(local, {
        bodies: budget.of('one'),
        limits: { breakerFailures: 1_000_000, callsPerOrigin: 20, queuePerOrigin: 1_000 },
      });
      const whole = call(egress, `${local.origin}/${RESPONSE.length}/close`);
      expect(typeof (await whole)).to.equal('object');
      const kinds = await Promise.all(
        Array.from({ length: RESPONSE.length }, (_, bytes) =>
          ['close', 'reset'].map(async (end) => {
            const { kind, sent } = await failureOf(call(egress, `${local.origin}/${bytes}/${end}`));
            return `${kind} ${sent}`;
          }),
        ).flat(),
      );
      expect([...new Set(kinds)].toSorted()).to.deep.equal(['invalid_response true', 'unreachable true']);
      await eventually(() => local.open.size === 0);
      expect(budget.used).to.equal(0);
    });
  }
});
