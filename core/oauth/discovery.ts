import { LRUCache } from 'lru-cache';
import type { AuthorizationServer } from 'oauth4webapi';
import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { readsFrom } from './account-values.ts';
import { callProblem, judgeCall, type NoAnswer } from './call-outcome.ts';
import { readMetadata } from './metadata.ts';
import { DOCUMENT, type FetchFor, pinnedToTarget } from './transport.ts';

export type Discovered =
  | { ok: true; metadata: AuthorizationServer }
  | NoAnswer
  /** It has no metadata, or such that must not be believed. */
  | { ok: false; kind: 'no_metadata' | 'lies'; message: string };

export interface DiscoveryRequest {
  /** As the pattern has it, its places filled: https, or http on this machine, without query and fragment. */
  issuer: string;
  /** Keeps what one tenant was told from another: the id of the environment. */
  partition: string;
  fetchFor: FetchFor;
}

export interface Discovery {
  /** Asks an issuer for its metadata; what it said is believed for an hour. */
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
 * Reads metadata of authorization servers (RFC 8414 §3, OpenID Connect Discovery §4). Callers at one time share one request, and
 * failures are not kept.
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
      // A clock that went back makes nothing younger.
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
  if (addresses === undefined) return { ok: false, kind: 'lies', message: 'The issuer must be an https URL.' };
  const fetch = pinnedToTarget(fetchFor);
  for (const address of addresses) {
    try {
      const response = await fetch(address, DOCUMENT);
      const outcome = await judgeCall(response, undefined, now());
      // A page instead of metadata means as little as an error.
      if (outcome.ok && outcome.body !== undefined) {
        const read = readMetadata(outcome.body, issuer);
        return read.ok ? read : { ok: false, kind: 'lies', message: read.message };
      }
      if (!outcome.ok && outcome.kind === 'unavailable') return outcome;
    } catch (error) {
      return callProblem(error);
    }
  }
  return { ok: false, kind: 'no_metadata', message: 'The authorization server publishes no metadata.' };
}

/** Whether a flow of this config cannot do without the metadata of its issuer. */
export function needsMetadata(config: OAuthConfig): boolean {
  if (config.issuer === undefined) return false;
  return config.authorize_uri === undefined || config.token_uri === undefined || readsFrom(config, 'id_token');
}

/** The possible addresses of metadata, in the order in which MCP clients try them: an issuer with a path has three. */
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
