import { inSpan, type SpanFacts, UNTRACED } from '../../core/spans.ts';
import type { Exchange } from './exchange.ts';

/**
 * Returns what is known for the span of a request at its start, with the names of OpenTelemetry's conventions; no path,
 * no query.
 */
export function requestSpan({ req, requestId }: Exchange): SpanFacts {
  const { traceparent } = req.headers;
  return {
    name: String(req.method),
    kind: 'server',
    attributes: { 'http.request.method': req.method, 'url.scheme': 'http', 'valetkey.request_id': requestId },
    parent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}

/**
 * Runs the work for an MCP message in the trace that the message names in `_meta.traceparent`. Without it, the work
 * belongs to the span of the request.
 */
export function inMessageTrace<T>(
  { mcpMethod, requestId }: Exchange,
  message: unknown,
  work: () => Promise<T>,
): Promise<T> {
  const { params } = (message ?? {}) as { params?: { _meta?: { traceparent?: unknown } | null } | null };
  const parent = params?._meta?.traceparent;
  if (typeof parent !== 'string') return work();
  const attributes = { 'mcp.method.name': mcpMethod, 'valetkey.request_id': requestId };
  return inSpan(() => ({ name: mcpMethod ?? 'message', kind: 'server', attributes, parent }), work);
}

/** Adds what is known after the response: the method of an MCP message, or the route of an operation. */
export function endRequestSpan(
  span: SpanFacts,
  { req, name, operation, environment, mcpMethod }: Exchange,
  status: number,
): void {
  if (span === UNTRACED) return;
  const route = operation?.path;
  span.name = mcpMethod ?? `${req.method} ${route ?? name}`;
  Object.assign(span.attributes, {
    'http.route': route,
    'http.response.status_code': status,
    'mcp.method.name': mcpMethod,
    'valetkey.operation': name,
    'valetkey.environment_id': environment?.id,
  });
  if (status >= 500) span.failure = String(status);
}
