import { isSecureAddress } from '../connectors/secure-address.ts';
import { isRecord } from '../tools/pointer.ts';
import type { Check } from './check.ts';
import { readJson } from './json-response.ts';
import { type FetchFor, isTransportFailure, restrictedToTarget } from './transport.ts';

const GONE = 410;

/**
 * Checks whether an address responds to a GET request. Most error statuses count as success, because the request lacks
 * the parameters that the endpoint requires. The verdict is `unknown` for status 404 and 5xx and for addresses with
 * placeholders, and `differs` for status 410, insecure addresses and failed connections.
 */
export async function probeAddress(what: string, address: string, fetchFor: FetchFor): Promise<Check> {
  return probe(what, address, fetchFor, { method: 'GET' }, async ({ status }) => {
    if (status === GONE) return { verdict: 'differs', found: `${address} returns ${status}` };
    // Some routers return 404 for another method or for missing parameters.
    const isInconclusive = status === 404 || status >= 500;
    return { verdict: isInconclusive ? 'unknown' : 'ok', found: `${address} returns ${status}` };
  });
}

/**
 * Checks a token endpoint by an empty token request, which it must reject with an OAuth error (RFC 6749 §5.2). For a
 * response without such an error, the verdict is `differs` if the status means that the endpoint does not exist or does
 * not accept POST (404, 405, 410), otherwise `unknown`. For addresses that cannot be called, see `probeAddress`.
 */
export function probeTokenEndpoint(
  address: string,
  format: 'form' | 'json' = 'form',
  fetchFor: FetchFor,
): Promise<Check> {
  const type = format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
  const init = {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': type },
    body: format === 'json' ? '{}' : '',
  };
  return probe('token_uri', address, fetchFor, init, async (response) => {
    const { status } = response;
    const found = `${address} returns ${status}`;
    const body = status < 500 ? await readJson(response) : undefined;
    // Any status below 500 is accepted, because some vendors return an OAuth error with 404 or 200.
    if (isRecord(body) && typeof body['error'] === 'string')
      return { verdict: 'ok', found: `${found} and an OAuth error` };
    const isAbsent = status === 404 || status === 405 || status === GONE;
    return { verdict: isAbsent ? 'differs' : 'unknown', found: `${found} and no OAuth error` };
  });
}

type Finding = Pick<Check, 'verdict' | 'found'>;

async function probe(
  what: string,
  address: string,
  fetchFor: FetchFor,
  init: RequestInit,
  examine: (response: Response) => Promise<Finding>,
): Promise<Check> {
  const check = (finding: Finding): Check => ({ what, expected: 'an https address that responds', ...finding });
  if (address.includes('{{')) return check({ verdict: 'unknown', found: `${address} differs by account` });
  const url = URL.parse(address);
  if (url === null || !isSecureAddress(url)) return check({ verdict: 'differs', found: address });
  try {
    return check(await examine(await restrictedToTarget(fetchFor)(address, { ...init, redirect: 'manual' })));
  } catch (error) {
    if (!isTransportFailure(error)) throw error;
    return check({ verdict: 'differs', found: `${address}: ${error.message}` });
  }
}
