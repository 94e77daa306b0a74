import { inSpan, type SpanFacts } from '../spans.ts';
import { EgressError } from './egress-error.ts';

/** Traces calls to other hosts. Addresses are reduced to their origin, because paths may contain inputs. */
export function traced<Request extends { method: string; url: URL | string }, Response extends { status: number }>(
  send: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return (request) =>
    inSpan(
      () => outboundSpan(request.method, new URL(request.url)),
      async (span) => {
        const response = await send(request).catch((error) => {
          if (error instanceof EgressError) span.failure = error.kind;
          throw error;
        });
        showStatus(span, response.status);
        return response;
      },
    );
}

/** Follows the semantic conventions for HTTP clients. */
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

/** Adds the status of a response. */
export function showStatus(span: SpanFacts, status: number): void {
  span.attributes['http.response.status_code'] = status;
  if (status >= 400) span.failure = String(status);
}
