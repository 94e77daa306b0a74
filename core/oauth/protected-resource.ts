import { isSecureAddress, mayReferTo } from '../connectors/secure-address.ts';
import { isRecord } from '../tools/pointer.ts';
import { callProblem, type NoResponse, readCallOutcome } from './call-outcome.ts';
import { DOCUMENT, type FetchFor, restrictedToTarget } from './transport.ts';

/** The maximum number of scopes in a connector's definition. Further scopes in the metadata are ignored. */
const MAX_SCOPES = 200;
const MAX_ISSUERS = 100;
const MAX_CHARS = 2048;

export type DiscoveredResource =
  | { ok: true; resource: string; issuers: string[]; scopes: string[] }
  | NoResponse
  | { ok: false; kind: 'no_metadata' | 'invalid_metadata'; message: string };

export interface ResourceRequest {
  /** The address of the protected resource, for example an MCP endpoint. */
  resource: string;
  /**
   * The address of the metadata as named by the resource (RFC 9728 §5.1). It is tried before the well-known addresses.
   */
  metadata?: string | undefined;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * Returns the authorization servers that a protected resource trusts (RFC 9728 §3). The metadata must name the
 * requested resource, or a parent path of it at the same origin (threats L9, P7).
 *
 * @returns `resource` is the resource to request tokens for (RFC 8707)
 */
export async function discoverResource(request: ResourceRequest): Promise<DiscoveredResource> {
  const { resource, metadata, fetchFor, now } = request;
  const url = URL.parse(resource);
  if (url === null || !isSecureAddress(url))
    return invalid(
      'The address of the MCP server must be a URL that starts with https://, or with http:// on this machine.',
    );
  const fetch = restrictedToTarget(fetchFor);
  for (const address of metadataAddresses(url, metadata)) {
    try {
      const response = await fetch(address, DOCUMENT);
      const outcome = await readCallOutcome(response, undefined, now());
      if (outcome.ok && isRecord(outcome.body)) return read(outcome.body, url);
      if (!outcome.ok && outcome.kind === 'unavailable') return outcome;
    } catch (error) {
      return callProblem(error);
    }
  }
  return { ok: false, kind: 'no_metadata', message: 'The resource does not name its authorization server.' };
}

/**
 * Returns the possible addresses of the metadata. The resource may name a relative address; an insecure one is ignored.
 */
function metadataAddresses(resource: URL, named: string | undefined): Set<string> {
  const first = named === undefined ? null : URL.parse(named, resource.href);
  const path = resource.pathname.replace(/\/$/, '');
  const wellKnown = [path, ''].map((place) => `/.well-known/oauth-protected-resource${place}${resource.search}`);
  return new Set([
    ...(first && mayReferTo(resource, first) ? [first.href] : []),
    ...wellKnown.map((place) => new URL(place, resource).href),
  ]);
}

function read(body: Record<string, unknown>, asked: URL): DiscoveredResource {
  const { resource } = body;
  const named = typeof resource === 'string' ? URL.parse(resource) : null;
  if (named === null || !isSameOrAbove(named, asked))
    return invalid(`The metadata of the resource at ${asked.origin} is for another resource.`);
  const issuers = texts(body['authorization_servers'], MAX_ISSUERS);
  if (issuers.some((issuer) => !URL.canParse(issuer) || !mayReferTo(asked, new URL(issuer)))) {
    return invalid('The metadata of the resource names an authorization server that is not an https URL.');
  }
  if (issuers.length === 0) {
    return { ok: false, kind: 'no_metadata', message: 'The resource names no authorization server.' };
  }
  return { ok: true, resource: String(resource), issuers, scopes: texts(body['scopes_supported'], MAX_SCOPES) };
}

function isSameOrAbove(named: URL, asked: URL): boolean {
  const above = named.pathname.endsWith('/') ? named.pathname : `${named.pathname}/`;
  return named.origin === asked.origin && named.hash === '' && `${asked.pathname}/`.startsWith(above);
}

function texts(value: unknown, count: number): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item) => typeof item === 'string' && item.length <= MAX_CHARS).slice(0, count);
}

function invalid(message: string): DiscoveredResource {
  return { ok: false, kind: 'invalid_metadata', message };
}
