import type { Dispatcher } from 'undici';
import type { BodyBuffer } from '../budgets/body-buffer.ts';
import { EgressError } from './egress-error.ts';
import { refusedBody, tooMany } from './refused-body.ts';
import { toEgressError } from './transport-error.ts';

/** One HTTP request as it is sent. */
export interface WireRequest {
  origin: string;
  path: string;
  method: string;
  headers: string[];
  body: string | Buffer | null;
}

/** Header names are in lower case; a repeated header has a list of values. */
export type ResponseHeaders = Record<string, string | string[]>;

/** One response as it was received: its body may be compressed. */
export interface WireResponse {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

export interface ExchangeLimits {
  /** The maximum size of the body as sent, in bytes. */
  maxBytes: number;
  /** The maximum number of interim responses (1xx) before the response. */
  maxInterim: number;
  /**
   * The longest time without data within a response, in milliseconds. Until the response begins, only the limit of the
   * whole call applies.
   */
  idleTimeoutMs: number;
}

/**
 * Sends one request and reads its response. The socket is destroyed if a limit is exceeded or the signal is aborted.
 *
 * @param body collects the body of the response
 * @param signal cancels the request. Its reason, an EgressError, becomes the failure
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
        // Called immediately before the bytes are written. A call that has ended, or was already written once, is not
        // written.
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
