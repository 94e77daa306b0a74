import type { PlacedPart } from '../../connectors/placement.ts';
import type { OutboundRequest, UpstreamResponse } from '../../tools/wire.ts';

/** The one way out for the protocol's package: what it calls `fetch`. */
export interface UpstreamFetch {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** The status of the last answer, and what the last call failed with; the package's own errors say less. */
  last(): { status: number | undefined; failure: unknown };
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Sends the requests of the protocol by `send`, each with the account's credential. Every answer is read whole, within the limits of a
 * call: a stream that goes on for ever, which a GET would open, is not asked for.
 */
export function createUpstreamFetch(
  send: (request: OutboundRequest) => Promise<UpstreamResponse>,
  credential: readonly PlacedPart[],
): UpstreamFetch {
  let status: number | undefined;
  let failure: unknown;
  return {
    last: () => ({ status, failure }),
    async fetch(url, init = {}) {
      const method = init.method ?? 'GET';
      if (method === 'GET') return new Response(null, { status: 405 });
      const target = new URL(url);
      const headers = Object.fromEntries(new Headers(init.headers));
      for (const part of credential) {
        if (part.in === 'query') target.searchParams.set(part.name, part.value);
        else if (part.in === 'header') headers[part.name.toLowerCase()] = part.value;
        else throw new Error('a credential of an MCP server stands in a header or in the query');
      }
      try {
        const body = typeof init.body === 'string' ? init.body : undefined;
        const answer = await send({ method, url: target.href, headers, body });
        status = answer.status;
        const given = Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        );
        const content = WITHOUT_BODY.has(answer.status) ? null : new Uint8Array(answer.body);
        return new Response(content, { status: answer.status, headers: given });
      } catch (error) {
        failure = error;
        throw error;
      }
    },
  };
}
