import { expect } from 'chai';
import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Reply } from '../../http/contract.ts';
import type { Exchange } from '../../http/pipeline/exchange.ts';
import { writeStream } from '../../http/responses/write-stream.ts';

describe('writeStream', () => {
  it('S3: serves other requests between two pieces, also for a client that reads everything immediately', async () => {
    const PIECES = 50;
    let turns = 0;
    async function* pieces(): AsyncGenerator<string> {
      for (let count = 0; count < PIECES; count++) yield 'piece';
    }
    const written: string[] = [];
    const res = {
      writeHead() {},
      flushHeaders() {},
      write: (piece: string) => written.push(piece) > 0,
      end() {},
    };
    const exchange = { req: { method: 'GET' }, res, responseHeaders: {}, requestId: 'req_1' } as unknown as Exchange;
    const { signal } = new AbortController();
    const body = new StreamedBody(pieces);
    await body.begin(signal);
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await writeStream(exchange, { status: 200, headers: {}, body } as unknown as Reply, body, signal);
    isOver = true;
    expect(written).to.have.length(PIECES);
    expect(turns).to.be.at.least(PIECES - 1);
  });
});
