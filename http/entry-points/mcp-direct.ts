import type { DirectCall } from '../../core/mcp/direct-call.ts';
import { directFailure, directResponse, readDirectCall } from '../../core/mcp/direct-call.ts';
import type { KnownSessions } from '../../core/mcp/known-sessions.ts';
import type { RunningCalls } from '../../core/mcp/running-calls.ts';
import { type McpSession, ownerOf } from '../../core/mcp/session.ts';
import { SERVER_INFO } from '../../core/mcp/tool-server.ts';
import type { Logger } from '../monitoring/log.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { commonHeaders } from '../responses/write.ts';

/** Runs a call. @returns undefined if the MCP SDK must serve it */
export type ServeDirectCall = (
  session: McpSession,
  call: DirectCall,
  signal: AbortSignal,
) => Promise<object | undefined>;

interface DirectDeps {
  serve: ServeDirectCall;
  known: KnownSessions;
  running: RunningCalls;
  log: Pick<Logger, 'error'>;
}

/** How often comments are sent, as in the MCP SDK, so that proxies do not close the connection of a slow call. */
const KEEP_ALIVE_MS = 15_000;
/** The status in the log for a request whose client has disconnected. */
const CLIENT_LEFT = 499;
/** The headers that the MCP SDK sends. They keep proxies from buffering the stream, which would delay the result. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Serves plain tool calls without the MCP SDK. The SDK builds a server, a web request and a web response for each call,
 * which takes three quarters of the processor time of a call.
 *
 * @returns the status of the response that was written, or undefined if the MCP SDK must serve the request
 */
export async function serveDirectly(
  { serve, known, running, log }: DirectDeps,
  exchange: Exchange,
  session: McpSession,
  body: unknown,
): Promise<number | undefined> {
  const { req, res } = exchange;
  const call = readDirectCall(req.headers, body);
  if (!call) return undefined;
  const { sessionId } = call;
  if (sessionId !== undefined && known.open(ownerOf(session), sessionId) === null) return undefined;
  const { signal, cancel, end } = running.begin(call);
  res.once('close', cancel);
  const keptAlive = call.era === 'legacy' ? keepAlive(exchange, sessionId) : undefined;
  let text: string;
  try {
    const result = await serve(session, call, signal);
    if (result === undefined && !res.headersSent) return undefined;
    if (result === undefined) throw new Error('a tool call needs the MCP SDK after its response has begun');
    text = directResponse(call, result, SERVER_INFO);
  } catch (err) {
    log.error({ err }, 'MCP request failed');
    text = directFailure(call);
  } finally {
    clearTimeout(keptAlive?.timer);
    end();
    res.off('close', cancel);
  }
  if (res.destroyed) return CLIENT_LEFT;
  if (call.era === 'modern') write(exchange, { 'content-type': 'application/json' }, text);
  else write(exchange, streamHeaders(sessionId), signal.aborted ? '' : `event: message\ndata: ${text}\n\n`);
  return res.statusCode;
}

/** Cancels direct calls, which the MCP SDK does not know, if a request is their cancellation or ends their session. */
export function cancelDirectCalls(
  { known, running }: Pick<DirectDeps, 'known' | 'running'>,
  { req: { method, headers } }: Exchange,
  session: McpSession,
  body: unknown,
): void {
  const sessionId = headers['mcp-session-id'] as string | undefined;
  const isEnd = method === 'DELETE';
  const { method: notification, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  if (sessionId === undefined || !(isEnd || notification === 'notifications/cancelled')) return;
  if (known.open(ownerOf(session), sessionId) === null) return;
  if (isEnd) running.endSession(sessionId);
  else running.cancel(sessionId, params?.requestId);
}

/** Begins the response of a slow call, and sends comments of the event stream until the timer is cleared. */
function keepAlive(exchange: Exchange, sessionId: string | undefined): { timer: NodeJS.Timeout } {
  const { res } = exchange;
  const tick = () => {
    if (!res.headersSent) res.writeHead(200, { ...commonHeaders(exchange), ...streamHeaders(sessionId) });
    res.write(': keepalive\n\n');
    kept.timer = setTimeout(tick, KEEP_ALIVE_MS).unref();
  };
  const kept = { timer: setTimeout(tick, KEEP_ALIVE_MS).unref() };
  return kept;
}

function streamHeaders(sessionId: string | undefined): Record<string, string> {
  return sessionId === undefined ? STREAM_HEADERS : { ...STREAM_HEADERS, 'mcp-session-id': sessionId };
}

function write(exchange: Exchange, headers: Record<string, string>, text: string): void {
  const { res } = exchange;
  if (!res.headersSent) {
    const common = commonHeaders(exchange);
    common['content-length'] = Buffer.byteLength(text);
    res.writeHead(200, Object.assign(common, headers));
  }
  res.end(text);
}
