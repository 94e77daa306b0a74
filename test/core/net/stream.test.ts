import { expect } from 'chai';
import type { EgressStream } from '../../../core/net/egress.ts';
import type { EgressError } from '../../../core/net/egress-error.ts';
import { closeAll, egressTo, eventually, failureOf, get, serve } from './local.ts';

const KB = 1024;

/** Reads a stream to its end, or to its failure. */
async function failureOfBody({ body }: EgressStream): Promise<EgressError | undefined> {
  try {
    for await (const _piece of body);
    return undefined;
  } catch (error) {
    return error as EgressError;
  }
}

describe('the limits that a stream is given', () => {
  afterEach(closeAll);

  it('bound its size below the common bound', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(64 * KB, 'a')));
    const egress = egressTo(local);
    expect(await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB })))).to.equal(undefined);
    const failure = await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB - 1 })));
    expect(failure).to.include({ kind: 'too_large', sent: true });
    await eventually(() => local.open.size <= 1);
  });

  it('cannot be wider than the common bounds', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(64 * KB, 'a')));
    const egress = egressTo(local, { limits: { streamMaxBytes: KB } });
    const failure = await failureOfBody(await egress.stream(get(local.origin, { maxBytes: 64 * KB })));
    expect(failure).to.include({ kind: 'too_large' });
  });

  it('bound the time until its head', async () => {
    const local = await serve(() => {});
    const failure = await failureOf(egressTo(local).stream(get(local.origin, { timeoutMs: 20 })));
    expect(failure).to.include({ kind: 'timeout', sent: true });
    await eventually(() => local.open.size === 0);
  });

  it('bound its silence', async () => {
    const local = await serve((_request, response) => response.write('a'));
    const stream = await egressTo(local).stream(get(local.origin, { idleTimeoutMs: 20 }));
    expect(await failureOfBody(stream)).to.include({ kind: 'timeout' });
  });

  it('end it by a signal, before its head and after', async () => {
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
