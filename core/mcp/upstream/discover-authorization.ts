import type { EnvironmentId } from '../../../db/store.ts';
import type { BearerChallenge } from '../../oauth/challenge.ts';
import type { Discovered, Discovery } from '../../oauth/discovery.ts';
import { type DiscoveredResource, discoverResource } from '../../oauth/protected-resource.ts';
import { type FetchFor, restrictedToTarget } from '../../oauth/transport.ts';
import { askForChallenge } from './ask-challenge.ts';

/** The metadata of an authorization server. */
type AuthorizationServer = Extract<Discovered, { ok: true }>['metadata'];

/** The authorization that an MCP server describes, or the reason why it was not found, as a `message` for operators. */
export type DiscoveredAuthorization =
  /** `scopes`: the scopes that a first login needs; `supported`: all scopes in the server's metadata. */
  | { ok: true; server: AuthorizationServer; resource: string; scopes: string[]; supported: string[] }
  /** `isSilent`: nothing that was received contradicts the stored values, for example if the server was unreachable. */
  | { ok: false; isSilent: boolean; message: string };

export interface ServerRequest {
  /** The address of the MCP server. */
  address: string;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now(): number;
}

export interface AuthorizationRequest extends ServerRequest {
  environmentId: EnvironmentId;
  /** The authorization server that an operator has set; undefined if the MCP server determines it. */
  issuer: string | undefined;
  /** The authorization server that the MCP server named before; undefined if there is none. */
  known: string | undefined;
  discovery: Discovery;
}

/**
 * Finds the authorization server of an MCP server as the revision 2026-07-28 describes it. The server's 401 response
 * contains the address of its metadata (RFC 9728 §5.1) and the scopes that it requires. If the response contains no
 * address, the metadata is at a well-known address. The metadata names the authorization server, which publishes its
 * own metadata (RFC 8414). An authorization server that an operator has set is used instead of the named one. If the
 * MCP server has no metadata, the authorization server that it named before is used. If it has never named any, the
 * revision 2025-03-26 applies: the origin of the MCP server is the authorization server. Default endpoints are assumed
 * if the origin has no metadata either and the MCP server requires a token.
 */
export async function discoverAuthorization(request: AuthorizationRequest): Promise<DiscoveredAuthorization> {
  const { address, environmentId: partition, issuer: given, known, discovery, fetchFor } = request;
  const { challenge, resource } = await askResource(request);
  if (!resource.ok && resource.kind !== 'no_metadata') {
    return { ok: false, isSilent: resource.kind !== 'invalid_metadata', message: resource.message };
  }
  const about = {
    resource: resource.ok ? resource.resource : address,
    scopes: challenge?.scopes ?? (resource.ok ? resource.scopes : []),
    supported: resource.ok ? resource.scopes : [],
  };
  const issuer = given ?? (resource.ok ? chosen(resource.issuers, known) : known);
  const found =
    issuer === undefined
      ? await originServer(request, challenge !== undefined)
      : await discovery.discover({ issuer, partition, fetchFor });
  if (found.ok) return { ok: true, server: found.metadata, ...about };
  return { ok: false, isSilent: issuer === known, message: found.message };
}

/**
 * Whether an MCP server now names authorization servers, and the stored one (`known`) is not among them. False if the
 * metadata of the MCP server cannot be read.
 */
export async function hasMoved(request: ServerRequest, known: string): Promise<boolean> {
  const { resource } = await askResource(request);
  return resource.ok && !resource.issuers.includes(known);
}

async function askResource({ address, fetchFor, now }: ServerRequest): Promise<{
  challenge: BearerChallenge | undefined;
  resource: DiscoveredResource;
}> {
  const challenge = await askForChallenge(address, restrictedToTarget(fetchFor));
  const metadata = challenge?.resourceMetadata;
  return { challenge, resource: await discoverResource({ resource: address, metadata, fetchFor, now }) };
}

/** Selects an authorization server: the stored one if it is still named, otherwise the first one. */
function chosen(issuers: readonly string[], known: string | undefined): string | undefined {
  return known !== undefined && issuers.includes(known) ? known : issuers[0];
}

/**
 * Returns the authorization server at the origin of an MCP server (revision 2025-03-26, Authorization, 2.3.2 and
 * 2.3.3).
 *
 * @param isProtected whether the MCP server requires a token. Only then are the default endpoints assumed for an origin
 * without metadata
 */
async function originServer(
  { address, environmentId, discovery, fetchFor }: AuthorizationRequest,
  isProtected: boolean,
): Promise<Discovered> {
  const { origin } = new URL(address);
  const found = await discovery.discover({ issuer: origin, partition: environmentId, fetchFor });
  if (found.ok || found.kind === 'unavailable' || found.kind === 'setting') return found;
  if (found.kind === 'invalid_metadata') {
    // Some servers add a slash to their origin in the issuer.
    return discovery.discover({ issuer: `${origin}/`, partition: environmentId, fetchFor });
  }
  if (!isProtected) return found;
  return {
    ok: true,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
    },
  };
}
