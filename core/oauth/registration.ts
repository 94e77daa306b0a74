import { type AuthorizationServer, customFetch, dynamicClientRegistrationRequest } from 'oauth4webapi';
import { isOnThisMachine } from '../connectors/secure-address.ts';
import { Secret } from '../secret.ts';
import { isRecord } from '../tools/pointer.ts';
import { type CallFailure, callProblem, readCallOutcome } from './call-outcome.ts';
import type { ClientAuthMethod } from './client-auth.ts';
import { CHECKED_ENDPOINTS, type FetchFor, restrictedToTarget } from './transport.ts';

/** The metadata that Valetkey registers for a client. */
export interface ClientDescription {
  name: string;
  /** Exactly as in authorization requests. */
  redirectUri: string;
  scopes: readonly string[];
  /** A page about the operator of this server. */
  homepage?: string;
}

/**
 * Returns how Valetkey becomes a client of a server: by a client metadata document, by dynamic registration, or by an
 * operator who registers the client manually.
 */
export function registrationWay(server: AuthorizationServer): 'metadata_document' | 'dynamic' | 'manual' {
  if (server.client_id_metadata_document_supported === true) return 'metadata_document';
  return server.registration_endpoint === undefined ? 'manual' : 'dynamic';
}

/**
 * Returns the client metadata document, whose address is the client id (OAuth Client ID Metadata Document §4). It
 * describes a public client that uses PKCE.
 *
 * @param clientId the https address of the document; its path must not be empty
 */
export function clientMetadataDocument(clientId: string, description: ClientDescription): Record<string, unknown> {
  return { client_id: clientId, ...metadataOf(description) };
}

export interface RegistrationRequest {
  server: AuthorizationServer;
  description: ClientDescription;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/** A registered client. Its secret must be stored encrypted. */
export interface RegisteredClient {
  clientId: string;
  method: ClientAuthMethod;
  /** null for a public client. */
  secret: Secret | null;
  /** When the secret expires, in milliseconds UTC; null for never. */
  secretExpiresAt: number | null;
}

export type Registered =
  | { ok: true; client: RegisteredClient }
  | CallFailure
  /** The registration cannot be used: it lacks a required value, or the server requires something unsupported. */
  | { ok: false; kind: 'unusable'; message: string };

/**
 * Registers a client at a server (RFC 7591 §3). The request is for a public client, but the server may require a
 * secret.
 */
export async function registerClient({ server, description, fetchFor, now }: RegistrationRequest): Promise<Registered> {
  try {
    const fetch = restrictedToTarget(fetchFor);
    const response = await dynamicClientRegistrationRequest(server, metadataOf(description), {
      ...CHECKED_ENDPOINTS,
      [customFetch]: (url, { headers: { 'user-agent': _theLibrary, ...headers }, ...options }) =>
        fetch(url, { ...options, headers }),
    });
    const outcome = await readCallOutcome(response, { code: '/error' }, now());
    return outcome.ok ? read(outcome.body, description) : outcome;
  } catch (error) {
    return callProblem(error);
  }
}

function metadataOf({ name, redirectUri, scopes, homepage }: ClientDescription) {
  return {
    client_name: name,
    ...(homepage !== undefined && { client_uri: homepage }),
    redirect_uris: [redirectUri],
    // Some servers reject web applications that return to a loopback address.
    application_type: isOnThisMachine(new URL(redirectUri)) ? 'native' : 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

const MAX_SECRET = 4_096;
/** The latest time that a date can represent, in milliseconds UTC. */
const LATEST_TIME = 8.64e15;
const METHODS: ReadonlySet<unknown> = new Set<ClientAuthMethod>(['client_secret_basic', 'client_secret_post', 'none']);

function read(body: unknown, { redirectUri }: ClientDescription): Registered {
  if (!isRecord(body)) return unusable('did not respond to the registration with a JSON object');
  const { client_id: clientId, client_secret: secret, redirect_uris: redirectUris } = body;
  if (typeof clientId !== 'string' || !/^[\x20-\x7e]{1,500}$/.test(clientId))
    return unusable('returned no valid client_id');
  if (Array.isArray(redirectUris) && !redirectUris.includes(redirectUri))
    return unusable(`did not register the redirect URL ${redirectUri}`);
  const hasSecret = typeof secret === 'string' && secret !== '';
  // If the server names no method, the requested method `none` applies. A client secret contradicts `none`, so with a
  // secret the default of the standard applies (RFC 7591 §2).
  const method = body['token_endpoint_auth_method'] ?? (hasSecret ? 'client_secret_basic' : 'none');
  if (!METHODS.has(method)) {
    const shown = typeof method === 'string' && /^[\w.-]{1,50}$/.test(method) ? ` (${method})` : '';
    return unusable(`requires a client authentication method that is not supported${shown}`);
  }
  if (method !== 'none' && !hasSecret) return unusable(`returned no client_secret, which ${method} requires`);
  if (method !== 'none' && hasSecret && (secret.length > MAX_SECRET || !secret.isWellFormed()))
    return unusable('returned a client_secret that is too long or not valid text');
  const end = body['client_secret_expires_at'];
  return {
    ok: true,
    client: {
      clientId,
      method: method as ClientAuthMethod,
      secret: method !== 'none' && hasSecret ? new Secret(secret) : null,
      secretExpiresAt: typeof end === 'number' && end > 0 ? Math.min(end * 1000, LATEST_TIME) : null,
    },
  };
}

function unusable(what: string): Registered {
  return { ok: false, kind: 'unusable', message: `The authorization server ${what}.` };
}
