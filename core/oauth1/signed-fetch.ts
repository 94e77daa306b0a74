import type { FetchFor } from '../oauth/transport.ts';
import type { OutboundRequest } from '../tools/wire.ts';

/**
 * Returns a `FetchFor` whose requests are authenticated for the account: `authorize` signs each request or adds the
 * token. An Authorization header from the caller is removed.
 *
 * @param authorize receives a request without a credential
 */
export function fetchAs(fetchFor: FetchFor, authorize: (request: OutboundRequest) => OutboundRequest): FetchFor {
  return async (origins) => {
    const fetch = await fetchFor(origins);
    return (address, init = {}) => {
      const { authorization: _own, ...headers } = Object.fromEntries(new Headers(init.headers));
      const text = typeof init.body === 'string' ? init.body : undefined;
      const request = { method: init.method ?? 'GET', url: String(address), headers, body: text };
      const { method, url, headers: signed, body } = authorize(request);
      return fetch(url, { ...init, method, headers: signed, ...(typeof body === 'string' && { body }) });
    };
  };
}
