import { expect } from 'chai';
import type { EgressStream } from '../../../core/net/egress.ts';
import type { EgressError } from '../../../core/net/egress-error.ts';
import { closeAll, egressTo, eventually, failureOf, get, serve } from './local.ts';

const KB = 1024;

/** Reads a stream until it ends or fails. @returns the failure; undefined if the stream ended */
async function failureOfBody({ body }: EgressStream): Promise<EgressError | undefined> {
  try {
    for await (const _piece of body);
    return undefined;
  } catch (error) {
    return error as EgressError;
  }
}

describe('the limits of a stream', () => {
  afterEach(closeAll);

  it('can set a smaller size than the common limit', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(64 * KB, 'a')));
    const egress = egressTo(local);
    expect(await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB })))).to.equal(undefined);
    const failure = await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB - 1 })));
    expect(failure).to.include({ kind: 'too_large', sent: true });
    await eventually(() => local.open.size <= 1);
  });

  it('cannot exceed the common limits', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(64 * KB, 'a')));
    const egress = egressTo(local, { limits: { streamMaxBytes: KB } });
    const failure = await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB })));
    expect(failure).to.include({ kind: 'too_large' });
  });

  it('limit the time until its head', async () => {
    const local = await serve(() => {});
    const failure = await failureOf(egressTo(local).stream(get(local.origin, { timeoutMs: 20 })));
    expect(failure).to.include({ kind: 'timeout', sent: true });
    await eventually(() => local.open.size === 0);
  });

  it('limit the time without data', async () => {
    const local = await serve((_request, response) => response.write('a'));
    const stream = await egressTo(local).stream(get(local.origin, { idleTimeoutMs: 20 }));
    expect(await failureOfBody(stream)).to.include({ kind: 'timeout' });
  });

  it('include a signal that ends it, before its head and after', async () => {
    const local = await serve((request, response) => request.url === '/head' && response.write('a'));
    const egress = egressTo(local);
    for (const path of ['/none', '/head']) {
      const end = new AbortController();
      const stream = egress.stream(get(local.origin + path, { signal: end.signal }));
      if (path === '/none') await eventually(() => local.requests.length > 0);
      else await stream;
      end.abort();
      const failure = path === '/none' ? await failureOf(stream) : await failureOfBody(await stream);
      expect(failure, path).to.include({ kind: 'aborted' });
      await eventually(() => local.open.size === 0);
    }
    const failure = await failureOf(egress.stream(get(local.origin, { signal: AbortSignal.abort() })));
    expect(failure).to.include({ kind: 'aborted', sent: false });
    expect(local.requests).to.have.length(2);
  });
});

describe('S2: the slots of streams', () => {
  afterEach(closeAll);

  /**
   * The path `/whole` has a small body; any other path has a large one, which is blocked when the reader does not read.
   */
  const bodies = () =>
    serve((request, response) => response.end(Buffer.alloc(request.url === '/whole' ? KB : 4 * 1024 * KB, 'a')));

  it('are separate from those of calls: responses that are not read do not block calls', async () => {
    const local = await bodies();
    const egress = egressTo(local, { limits: { callsPerOrigin: 1, queuePerOrigin: 0 } });
    const unread = [];
    for (let count = 0; count < 3; count++) unread.push(await egress.stream(get(local.origin)));
    expect((await egress.send(get(`${local.origin}/whole`))).status).to.equal(200);
    for (const { body } of unread) expect(await failureOfBody({ body } as EgressStream)).to.equal(undefined);
    // The connections are kept and reused.
    expect((await egress.send(get(`${local.origin}/whole`))).status).to.equal(200);
    expect(local.connections).to.equal(4);
  });

  it('are limited: the response that has waited longest for its reader is ended for the next one', async () => {
    const local = await bodies();
    const egress = egressTo(local, { limits: { streamsPerOrigin: 2 } });
    const unread = async () => {
      const stream = await egress.stream(get(local.origin));
      await eventually(() => stream.body.readableLength >= stream.body.readableHighWaterMark);
      return stream;
    };
    const [first, second] = [await unread(), await unread()];
    const third = await egress.stream(get(local.origin));
    expect(await failureOfBody(first)).to.include({ kind: 'aborted', sent: true });
    expect(await failureOfBody(second)).to.equal(undefined);
    expect(await failureOfBody(third)).to.equal(undefined);
  });

  it('are refused while all responses are still arriving, and are released after each', async () => {
    const local = await serve((request, response) => (request.url === '/none' ? undefined : response.end('a')));
    const egress = egressTo(local, { limits: { streamsPerOrigin: 1 } });
    const end = new AbortController();
    const waiting = failureOf(egress.stream(get(`${local.origin}/none`, { signal: end.signal })));
    const refused = await failureOf(egress.stream(get(local.origin)));
    expect(refused).to.include({ kind: 'unreachable', sent: false });
    end.abort();
    await waiting;
    // A response that has arrived completely occupies no slot, whether it is read or not.
    for (let count = 0; count < 3; count++) {
      const { body } = await egress.stream(get(local.origin));
      await eventually(() => body.readableLength > 0);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
