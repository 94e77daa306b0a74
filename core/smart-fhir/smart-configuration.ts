import { mayReferTo } from '../connectors/secure-address.ts';
import { readMetadata } from '../oauth/metadata.ts';
import type { OAuthProvider } from '../oauth/provider.ts';
import { isRecord } from '../tools/pointer.ts';

/** The SMART configuration of a FHIR server. */
export interface SmartConfiguration {
  /**
   * The configuration as RFC 8414 metadata. If the server names no issuer, its token endpoint is used as the issuer.
   */
  metadata: NonNullable<OAuthProvider['metadata']>;
  /** The issuer that the server names. */
  issuer?: string;
  /** The SMART features of the server, for example `launch-ehr` or `client-confidential-asymmetric`. */
  capabilities: readonly string[];
}

/** `launch`: a user grants access. `backend`: a service has access without a user. */
export type SmartUse = 'launch' | 'backend';

export type ReadSmartConfiguration = { ok: true; configuration: SmartConfiguration } | { ok: false; message: string };

/**
 * Validates a SMART configuration (SMART App Launch 2.2, "Conformance"): it must contain what the use needs, and its
 * addresses must be secure. For a launch, the server must support PKCE with S256. A list of methods that also contains
 * `plain` is accepted, because `plain` is never used.
 *
 * @param body the JSON of `.well-known/smart-configuration`
 * @param asked the address where it was read
 */
export function readSmartConfiguration(body: unknown, use: SmartUse, asked: URL): ReadSmartConfiguration {
  if (!isRecord(body)) return unsuitable('is not a JSON object');
  const capabilities = textsIn(body['capabilities']);
  if (capabilities === undefined) return unsuitable('has no capabilities');
  // Only servers that sign users in must name an issuer. Without an issuer, the token endpoint identifies the server.
  const named = typeof body['issuer'] === 'string' ? body['issuer'] : undefined;
  const issuer = named ?? String(body['token_endpoint']);
  const namedUrl = named === undefined ? undefined : URL.parse(named);
  if (namedUrl === null || (namedUrl && !mayReferTo(asked, namedUrl)))
    return unsuitable('has an issuer that is not an https URL');
  const read = readMetadata({ ...body, issuer }, issuer, asked);
  if (!read.ok) return { ok: false, message: read.message };
  const { metadata } = read;
  if (metadata.token_endpoint === undefined) return unsuitable('has no token endpoint');
  if (use === 'launch') {
    if (metadata.authorization_endpoint === undefined) return unsuitable('has no authorization endpoint');
    if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
      return unsuitable('does not support PKCE with S256');
    }
  }
  return { ok: true, configuration: { metadata, capabilities, ...(named !== undefined && { issuer: named }) } };
}

function textsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

function unsuitable(how: string): ReadSmartConfiguration {
  return { ok: false, message: `The SMART configuration of the FHIR server ${how}.` };
}
