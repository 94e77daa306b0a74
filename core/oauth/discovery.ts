import { LRUCache } from 'lru-cache';
import type { AuthorizationServer } from 'oauth4webapi';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { callProblem, type NoResponse, readCallOutcome } from './call-outcome.ts';
import { readMetadata } from './metadata.ts';
import { DOCUMENT, type FetchFor, restrictedToTarget } from './transport.ts';

export type Discovered =
  | { ok: true; metadata: AuthorizationServer }
  | NoResponse
  /** The issuer has no metadata, or the metadata cannot be trusted. */
  | { ok: false; kind: 'no_metadata' | 'invalid_metadata'; message: string };

export interface DiscoveryRequest {
  /** The issuer with its placeholders filled: https, or http on this machine, without query and fragment. */
  issuer: string;
  /** The id of the environment. Environments do not share cached metadata. */
  partition: string;
  fetchFor: FetchFor;
}

export interface Discovery {
  /** Reads the metadata of an issuer and caches it for an hour. */
  discover(request: DiscoveryRequest): Promise<Discovered>;
}

const LIFE_MS = 60 * 60_000;
const MAX_ISSUERS = 500;

interface Known {
  discovered: Promise<Discovered>;
  /** Milliseconds UTC. */
  at: number;
}

/**
 * Reads metadata of authorization servers (RFC 8414 §3, OpenID Connect Discovery §4). Concurrent callers share one
 * request, and failures are not cached.
 *
 * @param now milliseconds UTC
 */
export function createDiscovery(now: () => number): Discovery {
  const known = new LRUCache<string, Known>({ max: MAX_ISSUERS });
  return {
    async discover(request) {
      const key = `${request.partition} ${request.issuer}`;
      const found = known.get(key);
      const age = found === undefined ? Number.POSITIVE_INFINITY : now() - found.at;
      // A negative age means that the clock went back; the metadata is then read again.
      if (found !== undefined && age >= 0 && age < LIFE_MS) return found.discovered;
      const discovered = ask(request, now);
      const entry = { discovered, at: now() };
      known.set(key, entry);
      const outcome = await discovered.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
      if (!outcome.ok && known.get(key) === entry) known.delete(key);
      return outcome;
    },
  };
}

async function ask({ issuer, fetchFor }: DiscoveryRequest, now: () => number): Promise<Discovered> {
  const addresses = wellKnownOf(issuer);
  if (addresses === undefined)
    return {
      ok: false,
      kind: 'invalid_metadata',
      message: 'The issuer must be an https URL without a user name, query or fragment.',
    };
  const fetch = restrictedToTarget(fetchFor);
  for (const address of addresses) {
    try {
      const response = await fetch(address, DOCUMENT);
      const outcome = await readCallOutcome(response, undefined, now());
      // A body that is not JSON, such as a web page, is ignored, and the next address is tried.
      if (outcome.ok && outcome.body !== undefined) {
        const read = readMetadata(outcome.body, issuer);
        return read.ok ? read : { ok: false, kind: 'invalid_metadata', message: read.message };
      }
      if (!outcome.ok && outcome.kind === 'unavailable') return outcome;
    } catch (error) {
      return callProblem(error);
    }
  }
  const message = `The authorization server at ${new URL(issuer).origin} publishes no metadata.`;
  return { ok: false, kind: 'no_metadata', message };
}

/**
 * Returns the possible addresses of metadata, in the order in which MCP clients try them: three for an issuer with a
 * path, two for others. Returns undefined if the issuer is not a secure address, or has a user name, query or fragment.
 */
function wellKnownOf(issuer: string): URL[] | undefined {
  const url = URL.parse(issuer);
  if (url === null || !isSecureAddress(url) || /[?#@]/.test(issuer)) return undefined;
  const path = url.pathname.replace(/\/$/, '');
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    ...(path === '' ? [] : [`/.well-known/openid-configuration${path}`]),
    `${path}/.well-known/openid-configuration`,
  ];
  return places.map((place) => Object.assign(new URL(url), { pathname: place }));
}
