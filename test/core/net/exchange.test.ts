import { expect } from 'chai';
import { Dispatcher } from 'undici';
import { BodyBuffer } from '../../../core/budgets/body-buffer.ts';
import { ByteBudget } from '../../../core/budgets/byte-budget.ts';
import { EgressError } from '../../../core/net/egress-error.ts';
import { exchange } from '../../../core/net/exchange.ts';
import { failureOf } from './local.ts';

const REQUEST = { origin: 'https://a.example', path: '/', method: 'POST', headers: [], body: 'x' };
const LIMITS = { maxBytes: 10, idleTimeoutMs: 1000, maxInterim: 2 };
const bodies = new ByteBudget({ totalBytes: 100, waitMs: 0, waiting: 0 }).of('');
const body = () => new BodyBuffer({ maxBytes: 10, maxChunks: 10, hold: bodies.hold(), free: 0 });

/**
 * A client that starts a request as many times as the test tells it to; `aborted` contains the result of each start.
 */
class Client extends Dispatcher {
  handler: Dispatcher.DispatchHandler = {};
  readonly aborted: boolean[] = [];

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.handler = handler;
    return true;
  }

  begin(): Dispatcher.DispatchController {
    const at = this.aborted.push(false) - 1;
    const controller = { aborted: false, paused: false, reason: null, pause() {}, resume() {} };
    const abort = () => {
      this.aborted[at] = true;
    };
    this.handler.onRequestStart?.({ ...controller, abort }, undefined);
    return { ...controller, abort };
  }
}

describe('exchange (E7)', () => {
  it('writes the request of a client once', () => {
    const client = new Client();
    void exchange(client, REQUEST, body(), LIMITS, new AbortController().signal).catch(() => {});
    client.begin();
    client.begin();
    expect(client.aborted).to.deep.equal([false, true]);
  });

  it('does not write a request that was aborted while it waited, and reports that it was not sent', async () => {
    const client = new Client();
    const end = new AbortController();
    const call = failureOf(exchange(client, REQUEST, body(), LIMITS, end.signal));
    end.abort(new EgressError('timeout', 'Too late.'));
    client.begin();
    expect(client.aborted).to.deep.equal([true]);
    expect(await call).to.include({ kind: 'timeout', sent: false });
  });

  it('reports that a request may have been received from the moment it is written', async () => {
    const client = new Client();
    const call = failureOf(exchange(client, REQUEST, body(), LIMITS, new AbortController().signal));
    const controller = client.begin();
    client.handler.onResponseError?.(controller, new Error('closed'));
    expect(await call).to.include({ kind: 'unreachable', sent: true });
  });
});
