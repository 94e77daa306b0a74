import { finished, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { EgressError } from './egress-error.ts';
import type { ResponseHeaders, WireRequest } from './exchange.ts';
import type { EgressLimits } from './limits.ts';
import { tooMany } from './refused-body.ts';
import { type EgressRequest, firstHop, onConnection, type SendDeps, type TracedRequest } from './send.ts';
import { type StreamSlot, StreamSlots } from './stream-slots.ts';
import { toEgressError } from './transport-error.ts';

/** A response whose body is streamed without decompression. The caller must read the body to its end or destroy it. */
export interface EgressStream {
  status: number;
  /** Names are in lower case. */
  headers: ResponseHeaders;
  /** Fails with an EgressError if it is incomplete, stalls or exceeds a limit, or if the call is cancelled. */
  body: Readable;
}

/**
 * Creates the function that sends a call and streams its response. It follows the rules of `send`, but does not follow
 * redirects. The call's slot at the origin is released when the head of the response has arrived, so that a slow reader
 * does not block other calls. Until the body has arrived, the call occupies a separate slot for streams.
 *
 * `timeoutMs` of the request limits the time until the head, and the limit `streamTimeoutMs` the time from the head to
 * the end of the body. `idleTimeoutMs` and `maxBytes` apply to the body, and `signal` to the whole call.
 *
 * @returns a function that rejects with an EgressError if the call fails before the head of the response has arrived
 */
export function createStream(deps: SendDeps): (request: TracedRequest) => Promise<EgressStream> {
  const { policy, pool, lanes, breaker, limits, userAgent } = deps;
  const places = new StreamSlots(limits.streamsPerOrigin);
  return async (request) => {
    const { url, method, headers, body } = firstHop(request, userAgent);
    const { target, targetOrigin: origin } = policy.route(url);
    const wire = { origin, path: url.pathname + url.search, method, headers, body };
    breaker.check(origin);
    const own = limitsOf(request, limits);
    const place = places.enter(origin);
    const end = new AbortController();
    const stop = () => end.abort(new EgressError('aborted', 'The call was cancelled.'));
    if (request.signal?.aborted) stop();
    request.signal?.addEventListener('abort', stop, { once: true });
    const endAfter = (ms: number) =>
      setTimeout(() => end.abort(new EgressError('timeout', `The call did not finish within ${ms} ms.`)), ms);
    let timer = endAfter(own.timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', stop);
    };
    try {
      const leave = await lanes.enter(origin, end.signal);
      const { result, release } = await breaker
        .run(origin, () =>
          onConnection(pool, { origin, target }, end.signal, (client) => begin(client, wire, own, place, end.signal)),
        )
        .finally(leave);
      clearTimeout(timer);
      timer = endAfter(limits.streamTimeoutMs);
      void result.arrived.then(() => {
        settle();
        release();
        place.leave();
      });
      return result.answer;
    } catch (error) {
      settle();
      place.leave();
      throw error;
    }
  };
}

type StreamLimits = Pick<EgressLimits, 'timeoutMs' | 'idleTimeoutMs' | 'maxBytes' | 'maxChunks' | 'maxInterim'>;

/** Returns the limits of a stream, which may last longer than other calls. */
function limitsOf({ timeoutMs, idleTimeoutMs, maxBytes }: EgressRequest, limits: EgressLimits): StreamLimits {
  return {
    timeoutMs: Math.min(timeoutMs ?? limits.timeoutMs, limits.streamTimeoutMs),
    idleTimeoutMs: Math.min(idleTimeoutMs ?? limits.idleTimeoutMs, limits.streamTimeoutMs),
    maxBytes: Math.min(maxBytes ?? limits.streamMaxBytes, limits.streamMaxBytes),
    maxChunks: limits.maxChunks,
    maxInterim: limits.maxInterim,
  };
}

interface StartedStream {
  answer: EgressStream;
  /** Resolves when the whole body has arrived, even if its reader has not read it, or when the body has failed. */
  arrived: Promise<void>;
}

/** Sends the request; resolves when the head of the response has arrived. */
function begin(
  dispatcher: Dispatcher,
  request: WireRequest,
  limits: StreamLimits,
  place: StreamSlot,
  signal: AbortSignal,
): Promise<StartedStream> {
  return new Promise((resolve, reject) => {
    const arrived = Promise.withResolvers<void>();
    let controller: Dispatcher.DispatchController | undefined;
    let stream: Readable | undefined;
    let idle: NodeJS.Timeout | undefined;
    let isPaused = false;
    let hasEnded = false;
    let size = 0;
    let interim = 0;
    let chunks = 0;

    const fail = (error: unknown) => {
      const failure = toEgressError(error, { sent: controller !== undefined, answering: stream !== undefined });
      if (stream === undefined) reject(failure);
      else stream.destroy(failure);
      controller?.abort(failure);
    };
    const onAbort = () => fail(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => {
      clearTimeout(idle);
      signal.removeEventListener('abort', onAbort);
    };

    const silent = () =>
      fail(
        new EgressError('timeout', `No data of the response arrived for ${limits.idleTimeoutMs} ms.`, { sent: true }),
      );
    const watch = () => {
      idle = setTimeout(silent, limits.idleTimeoutMs);
    };

    dispatcher.dispatch(request as Dispatcher.DispatchOptions, {
      onRequestStart(started) {
        // The HTTP client may ask to write a request a second time. It is then not written again, because the first
        // attempt may have had an effect.
        if (signal.aborted || controller !== undefined)
          started.abort(new EgressError('aborted', 'The call has ended.'));
        else controller = started;
      },
      onResponseStart(answering, status, headers) {
        if (status < 200) {
          if (++interim > limits.maxInterim) fail(tooMany('interim responses'));
          return;
        }
        watch();
        stream = new Readable({
          read: () => {
            if (!isPaused) return;
            isPaused = false;
            place.proceed();
            watch();
            answering.resume();
          },
          destroy(error, done) {
            settle();
            if (!hasEnded)
              answering.abort(error ?? new EgressError('aborted', 'The client no longer reads the response.'));
            done(error);
          },
        });
        // The stream may fail before its reader is attached, which must not end the process; a later reader still gets
        // the error.
        stream.on('error', () => {});
        finished(stream, () => arrived.resolve());
        const answer = { status, headers: headers as ResponseHeaders, body: stream };
        resolve({ answer, arrived: arrived.promise });
      },
      onResponseData(answering, chunk) {
        size += chunk.length;
        if (size > limits.maxBytes) {
          fail(new EgressError('too_large', `The response is larger than ${limits.maxBytes} bytes.`, { sent: true }));
          return;
        }
        if (++chunks > limits.maxChunks) {
          fail(tooMany('chunks'));
          return;
        }
        idle?.refresh();
        // While the stream waits for a slow reader, the idle timeout is stopped, because the host is not at fault.
        if (stream?.push(chunk) === false) {
          clearTimeout(idle);
          isPaused = true;
          place.wait(fail);
          answering.pause();
        }
      },
      onResponseEnd() {
        hasEnded = true;
        settle();
        stream?.push(null);
        arrived.resolve();
      },
      onResponseError(_controller, error) {
        fail(error);
      },
    });
  });
}
