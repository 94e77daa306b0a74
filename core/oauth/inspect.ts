import type { AuthorizationServer } from 'oauth4webapi';
import type { AuthPattern, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { Check } from './check.ts';
import { createDiscovery, type Discovered } from './discovery.ts';
import { compareMetadata } from './inspect-metadata.ts';
import { probeAddress, probeTokenEndpoint } from './inspect-probe.ts';
import type { FetchFor } from './transport.ts';

export interface InspectRequest {
  pattern: AuthPattern;
  /**
   * Overrides the issuer of the pattern. Needed if the pattern names no issuer and the issuer is not the origin of its
   * authorize_uri.
   */
  issuer?: string;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now(): number;
}

/**
 * Compares a pattern with the provider's metadata (RFC 8414, OpenID Connect Discovery) and with how its endpoints
 * respond to requests that contain neither a credential nor a client id.
 *
 * @returns one check per comparison, none for a pattern without OAuth
 */
export async function inspectProvider(request: InspectRequest): Promise<Check[]> {
  const { pattern, fetchFor } = request;
  const config = pattern.oauth_config ?? {};
  const { issuer, isNamed } = issuerFor(request, config);
  const discovered = issuer === undefined ? undefined : await discover(request, issuer);
  const metadata = discovered?.ok ? discovered.metadata : undefined;
  const addresses = [
    ['authorize_uri', config.authorize_uri ?? metadata?.authorization_endpoint],
    ['revocation_uri', config.revocation_uri],
    ['user_info_uri', config.user_info_uri],
    ['authorization.pushed_uri', config.authorization?.pushed_uri],
  ] as const;
  const probes = addresses.flatMap(([what, address]) => (address ? [probeAddress(what, address, fetchFor)] : []));
  const tokenUri = config.token_uri ?? metadata?.token_endpoint;
  if (tokenUri !== undefined) probes.push(probeTokenEndpoint(tokenUri, config.token_request_format, fetchFor));
  return [
    ...(await Promise.all(probes)),
    ...(issuer === undefined || discovered === undefined ? [] : [checkDiscovery(issuer, isNamed, discovered)]),
    ...(metadata === undefined ? [] : compareMetadata(pattern, metadata)),
  ];
}

/** If no issuer is named, the origin of the consent page is tried, because it is the issuer of many providers. */
function issuerFor({ issuer }: InspectRequest, config: OAuthConfig): { issuer?: string; isNamed: boolean } {
  const named = issuer ?? config.issuer;
  if (named !== undefined) return { issuer: named.includes('{{') ? undefined : named, isNamed: true };
  const { authorize_uri = '' } = config;
  const origin = authorize_uri.includes('{{') ? undefined : URL.parse(authorize_uri)?.origin;
  return { issuer: origin, isNamed: false };
}

function discover({ fetchFor, now }: InspectRequest, issuer: string): Promise<Discovered> {
  return createDiscovery(now).discover({ issuer, partition: 'doctor', fetchFor });
}

function checkDiscovery(issuer: string, isNamed: boolean, discovered: Discovered): Check {
  const expected = `the metadata of ${issuer}`;
  if (discovered.ok) return { what: 'issuer', verdict: 'ok', expected, found: describe(discovered.metadata) };
  // If a guessed issuer has no metadata, the connector may still be correct.
  return { what: 'issuer', verdict: isNamed ? 'differs' : 'unknown', expected, found: discovered.message };
}

function describe({ issuer }: AuthorizationServer): string {
  return `the metadata of ${issuer}`;
}
