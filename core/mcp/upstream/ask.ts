import type { Progress, RequestOptions } from '@modelcontextprotocol/client';
import { MCP_UPSTREAM } from '../../budgets.ts';
import type { Deadline } from '../../scheduling/timers.ts';
import type { UpstreamConnection } from './connect.ts';
import type { UpstreamResults } from './results.ts';
import { RpcError, UpstreamCancelled, UpstreamTimeout } from './upstream-errors.ts';
import { CALL_KEY, type WireCall } from './wire-call.ts';

/** An MCP request that Valetkey sends to a third-party MCP server. */
export interface UpstreamRequest<M extends keyof UpstreamResults = keyof UpstreamResults> {
  method: M;
  params: Record<string, unknown>;
  /** Additional headers that repeat the values of arguments, which some tools require (`x-mcp-header`). */
  headers?: Record<string, string>;
  /** The maximum time without a message from the server, in milliseconds. Progress restarts it. */
  silenceMs: number;
  /** The maximum size of the response, in bytes. */
  bytes: number;
  /** Aborted when the caller no longer wants the result; the server is then notified. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Accepts any result: the MCP SDK receives only an outline of it, and `readResult` checks the complete result. */
const ANY = { '~standard': { version: 1, vendor: 'valetkey', validate: (value: unknown) => ({ value }) } } as const;

let keys = 0;

/**
 * Sends one request and waits for its result. A call that takes longer than `longestCallMs` fails, even with progress.
 *
 * @throws RpcError, UpstreamTimeout, UpstreamCancelled; and errors of the connection and of the MCP SDK
 */
export async function askUpstream<M extends keyof UpstreamResults>(
  { client, wire }: UpstreamConnection,
  { method, params, headers, silenceMs, bytes, signal, onProgress }: UpstreamRequest<M>,
  timer: Deadline,
): Promise<UpstreamResults[M]> {
  const end = new AbortController();
  const call: WireCall = { key: String(++keys), signal: end.signal, silenceMs, bytes };
  let ended: Error | undefined;
  const endWith = (error: Error) => {
    ended ??= error;
    end.abort();
  };
  const watch = () => timer(silenceMs, () => endWith(new UpstreamTimeout(silenceMs)));
  const { longestCallMs } = MCP_UPSTREAM;
  let stopWatch = watch();
  const stopWhole = timer(longestCallMs, () => endWith(new UpstreamTimeout(longestCallMs)));
  const cancel = () => endWith(new UpstreamCancelled());
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  const options: RequestOptions = {
    // Longer than the timeouts above, which therefore take effect first.
    timeout: 2 * longestCallMs,
    signal: end.signal,
    ...(headers && { headers }),
    onprogress(progress) {
      stopWatch();
      stopWatch = watch();
      onProgress?.(progress);
    },
  };
  wire.begin(call);
  try {
    const request = { method, params: { ...params, _meta: { [CALL_KEY]: call.key } } };
    await client.request(request as never, ANY as never, options);
    return resultOf(call) as UpstreamResults[M];
  } catch (error) {
    if (ended) throw ended;
    if (call.outcome) throw errorOf(call, error);
    throw error;
  } finally {
    stopWatch();
    stopWhole();
    signal?.removeEventListener('abort', cancel);
    wire.end(call);
    end.abort();
  }
}

function resultOf({ outcome }: WireCall): unknown {
  if (outcome?.kind !== 'result') throw new Error('a request that succeeds has a result');
  return outcome.result;
}

function errorOf({ outcome }: WireCall, thrown: unknown): unknown {
  if (outcome?.kind === 'error') return new RpcError(outcome.code, outcome.message);
  return outcome?.kind === 'failed' ? outcome.error : thrown;
}
