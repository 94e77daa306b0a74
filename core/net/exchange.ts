import type { Dispatcher } from 'undici';
import type { BodyBuffer } from '../budgets/body-buffer.ts';
import { EgressError } from './egress-error.ts';
import { refusedBody, tooMany } from './refused-body.ts';
import { toEgressError } from './transport-error.ts';

/** One HTTP request as it goes onto the wire. */
export interface WireRequest {
  origin: string;
  path: string;
  method: string;
  headers: string[];
  body: string | Buffer | null;
}

/** Header names in lower case; a repeated name has a list. */
export type ResponseHeaders = Record<string, string | string[]>;

/** One response as it was received: the body is still in its content coding. */
export interface WireResponse {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

export interface ExchangeLimits {
  /** Largest body on the wire, in bytes. */
  maxBytes: number;
  /** The most interim responses (1xx) before the response. */
  maxInterim: number;
  /** Longest silence after the response has begun, in milliseconds. Before that the limit of the whole call applies. */
  idleTimeoutMs: number;
}

/**
 * Sends one request and reads its response. The socket is destroyed as soon as a limit is exceeded or the signal fires.
 *
 * @param body collects the body of the response
 * @param signal its reason, an EgressError, becomes the failure
 * @throws EgressError whose `sent` says whether undici had begun to write
 */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  body: BodyBuffer,
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: Omit<WireResponse, 'body'> | undefined;
    let idle: NodeJS.Timeout | undefined;
    let settled = false;
    let interim = 0;

    const settle = () => {
      settled = true;
      clearTimeout(idle);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown) => {
      if (settled) return;
      settle();
      const failure = toEgressError(error, { sent: controller !== undefined, answering: head !== undefined });
      controller?.abort(failure);
      reject(failure);
    };
    const onAbort = () => fail(signal.reason);
    const tooLarge = `The response is larger than ${limits.maxBytes} bytes.`;
    const silent = () => new EgressError('timeout', `No data of the response arrived for ${limits.idleTimeoutMs} ms.`);

    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });

    dispatcher.dispatch(request as Dispatcher.DispatchOptions, {
      onRequestStart(started) {
        // Called right before the bytes are written. A call that is over, or was written before, is never written again.
        if (settled || controller !== undefined) started.abort(new EgressError('aborted', 'The call has ended.'));
        else controller = started;
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) {
          if (++interim > limits.maxInterim) fail(tooMany('interim responses'));
          return;
        }
        head = { status, headers: headers as ResponseHeaders };
        idle = setTimeout(() => fail(silent()), limits.idleTimeoutMs);
        const isTooLarge = request.method !== 'HEAD' && Number(headers['content-length']) > limits.maxBytes;
        if (isTooLarge) fail(refusedBody('size', tooLarge));
      },
      onResponseData(_controller, chunk) {
        idle?.refresh();
        const refusal = body.add(chunk);
        if (refusal !== undefined) fail(refusedBody(refusal, tooLarge));
      },
      onResponseEnd() {
        if (settled || head === undefined) return;
        settle();
        resolve({ ...head, body: body.take() });
      },
      onResponseError(_controller, error) {
        fail(error);
      },
    });
  });
}
