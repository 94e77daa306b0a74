import { inSpan, isTraced, type SpanFacts } from '../spans.ts';
import { EgressError } from './egress-error.ts';
import type { EgressRequest, TracedRequest } from './send.ts';

/**
 * Returns a function that makes calls as `send` does and traces them. A span contains only the origin of the URL,
 * because the path may contain inputs of the call. The header `traceparent` is only added to a request with
 * `sendTraceContext`.
 */
export function traced<Response extends { status: number }>(
  send: (request: TracedRequest) => Promise<Response>,
): (request: EgressRequest) => Promise<Response> {
  return (request) => {
    if (!isTraced()) return send(request);
    return inSpan(
      () => outboundSpan(request.method, new URL(request.url)),
      async (span) => {
        const { traceparent } = span;
        const response = await send(request.sendTraceContext ? { ...request, traceparent } : request).catch((error) => {
          if (error instanceof EgressError) span.failure = error.kind;
          throw error;
        });
        showStatus(span, response.status);
        return response;
      },
    );
  };
}

/** Returns the span of a call, with the attributes of OpenTelemetry's semantic conventions for HTTP clients. */
export function outboundSpan(method: string, { protocol, hostname, port }: URL): SpanFacts {
  return {
    name: method,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.scheme': protocol.slice(0, -1),
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    },
  };
}

/** Adds the status of a response to its span. A status of 400 or more marks the span as failed. */
export function showStatus(span: SpanFacts, status: number): void {
  span.attributes['http.response.status_code'] = status;
  if (status >= 400) span.failure = String(status);
}
