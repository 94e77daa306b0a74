import { isAtOrBelow } from '../connectors/address-scope.ts';
import type { Discovery } from '../oauth/discovery.ts';
import type { UnavailableReason } from '../oauth/refresh-outcome.ts';
import type { FetchFor } from '../oauth/transport.ts';
import type { SmartConfiguration } from './smart-configuration.ts';

export interface EndpointsCheck {
  fhirBase: string;
  configuration: SmartConfiguration;
  /** The issuer in the provider's definition, if there is one. */
  expectedIssuer?: string | undefined;
  /** Whether the connection lists an address as allowed. */
  isListed(address: string): boolean;
  discovery: Discovery;
  fetchFor: FetchFor;
  /** The id of the environment. Environments do not share cached metadata. */
  partition: string;
}

export type EndpointsVerdict =
  | { ok: true }
  | { ok: false; kind: 'untrusted'; message: string }
  | { ok: false; kind: 'unavailable'; message: string; reason: UnavailableReason; retryAfterMs?: number | undefined };

/** Endpoints that receive users, codes, tokens or client assertions. */
const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'revocation_endpoint',
  'pushed_authorization_request_endpoint',
  'userinfo_endpoint',
] as const;

/**
 * Checks whether the endpoints that a FHIR server names belong to it. The user or the application chooses the base
 * address. A malicious server could combine its own endpoints with the endpoints of another server, and so obtain codes
 * or tokens of that other server (RFC 9700 §4.4).
 *
 * All endpoints must have the same origin. If the server or the provider's definition names an issuer, the issuer's own
 * metadata (RFC 8414 §3) must name the same endpoints. Their origin must then be that of the base address or the
 * issuer, unless the connection lists the token endpoint. Without an issuer, each endpoint must be at or below the base
 * address, unless the connection lists it. The same host is not sufficient, because a host may serve several
 * organizations.
 */
export async function checkSmartEndpoints(request: EndpointsCheck): Promise<EndpointsVerdict> {
  const { configuration, fhirBase, expectedIssuer, isListed } = request;
  const { metadata, issuer = expectedIssuer } = configuration;
  if (expectedIssuer !== undefined && issuer !== expectedIssuer)
    return untrusted(`does not have the issuer ${expectedIssuer} of the provider`);
  const named = ENDPOINTS.flatMap((name) => metadata[name] ?? []);
  const origins = new Set(named.map((address) => new URL(address).origin));
  if (origins.size !== 1) return untrusted('has endpoints with different origins');
  if (issuer !== undefined) return confirmed(request, issuer);
  const isOwn = named.every((address) => isAtOrBelow(address, fhirBase) || isListed(address));
  return isOwn
    ? { ok: true }
    : untrusted(
        'has endpoints that are not below the base URL, and no issuer that could confirm them. ' +
          'To allow them, list them in allowed_addresses of the connection',
      );
}

async function confirmed(
  { configuration: { metadata }, fhirBase, isListed, discovery, partition, fetchFor }: EndpointsCheck,
  issuer: string,
): Promise<EndpointsVerdict> {
  const found = await discovery.discover({ issuer, partition, fetchFor });
  if (!found.ok && found.kind === 'unavailable') {
    const { reason, retryAfterMs } = found;
    return {
      ok: false,
      kind: 'unavailable',
      message: `The issuer of the FHIR server did not return its metadata: ${found.message}`,
      reason,
      retryAfterMs,
    };
  }
  if (!found.ok) return untrusted('names an issuer whose own metadata cannot be used to confirm it');
  const isSame = ENDPOINTS.every((name) => {
    const own = found.metadata[name];
    // The issuer's metadata need not name a revocation endpoint; all endpoints have the same origin anyway.
    return (
      metadata[name] === undefined || own === metadata[name] || (own === undefined && name === 'revocation_endpoint')
    );
  });
  if (!isSame) return untrusted('has different endpoints than its issuer');
  const { origin } = new URL(metadata.token_endpoint as string);
  const isOwn =
    [fhirBase, issuer].some((address) => new URL(address).origin === origin) ||
    isListed(metadata.token_endpoint as string);
  return isOwn
    ? { ok: true }
    : untrusted(
        `has endpoints at ${origin}, which is neither its own origin nor that of its issuer. ` +
          'To allow them, list the token endpoint in allowed_addresses of the connection',
      );
}

function untrusted(how: string): EndpointsVerdict {
  return { ok: false, kind: 'untrusted', message: `The SMART configuration of the FHIR server ${how}.` };
}
