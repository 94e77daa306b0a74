import type { McpEndpoint } from '../../core/mcp/endpoint.ts';
import { type McpSession, ownerOf, toAuthInfo } from '../../core/mcp/session.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { commonHeaders } from '../responses/write.ts';

/**
 * Lets the MCP SDK handle a request, and sends its response: JSON, or a stream of events.
 *
 * @param endpoint the endpoint of the MCP SDK
 * @param parsedBody the body as JSON; undefined if the method has none
 * @returns the status of the response
 */
export async function serveProtocol(
  { serve }: McpEndpoint,
  exchange: Exchange,
  session: McpSession,
  parsedBody: unknown,
): Promise<number> {
  const { req, res } = exchange;
  // Loaded after the endpoint and not together with it: loading both in one turn would block the event loop longer.
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  res.setHeaders(new Map(Object.entries(commonHeaders(exchange))));
  const known = {
    auth: toAuthInfo(session),
    owner: ownerOf(session),
    environmentId: session.environment.id,
    parsedBody,
    onEnd: (listener: () => void) => (res.closed ? listener() : void res.once('close', listener)),
    end: () => void res.end(),
  };
  const fetch = async (request: Request) => {
    if (req.method === 'HEAD') return headOf(await serve(new Request(request, { method: 'GET' }), known));
    const response = await serve(request, known);
    if (req.method !== 'GET') return response;
    // The connection is closed when the stream ends, so that nothing stays in memory for a client that does not read.
    response.headers.set('connection', 'close');
    // Otherwise the head would be sent only with the first event, which may take long.
    setImmediate(() => res.writableEnded || res.flushHeaders());
    return response;
  };
  await toNodeHandler({ fetch })(req, res as never, parsedBody);
  return res.statusCode;
}

/** Cancels the body of a response and returns its status and headers. */
async function headOf({ body, status, headers }: Response): Promise<Response> {
  await body?.cancel();
  return new Response(null, { status, headers });
}
