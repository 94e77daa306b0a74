import type { AuthorizationServer } from 'oauth4webapi';
import { mayReferTo } from '../connectors/secure-address.ts';
import { isRecord } from '../tools/pointer.ts';

/** Addresses that Valetkey or a browser calls. */
const ENDPOINTS = [
  'authorization_endpoint',
  'introspection_endpoint',
  'jwks_uri',
  'pushed_authorization_request_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
] as const;
const LISTS = [
  'code_challenge_methods_supported',
  'grant_types_supported',
  'id_token_signing_alg_values_supported',
  'scopes_supported',
  'token_endpoint_auth_methods_supported',
] as const;
const FLAGS = [
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
  'require_pushed_authorization_requests',
  'require_signed_request_object',
] as const;
/** An address without userinfo, fragment or braces. Braces could be mistaken for placeholders. */
const ADDRESS = /^https?:\/\/[^\s@#{}\\]+$/;

export type ReadMetadata = { ok: true; metadata: AuthorizationServer } | { ok: false; message: string };

/**
 * Validates the metadata of an authorization server (RFC 8414 §3.3, threat P7). The whole document is rejected if its
 * issuer differs or one of its addresses is insecure. Only the members that Valetkey uses are kept.
 *
 * @param issuer exactly as configured; it is compared as text
 * @param asked the address that the metadata was read from; by default the issuer
 */
export function readMetadata(body: unknown, issuer: string, asked: URL = new URL(issuer)): ReadMetadata {
  if (!isRecord(body)) return invalid('is not a JSON object');
  if (body['issuer'] !== issuer) return invalid('has another issuer than the requested one');
  const metadata: Record<string, unknown> = { issuer };
  for (const name of ENDPOINTS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || !isAddress(value, asked))
      return invalid(`has an invalid ${name}: it must be an https URL without a user name or fragment`);
    metadata[name] = value;
  }
  for (const name of LISTS) {
    const value = body[name];
    if (Array.isArray(value)) metadata[name] = value.filter((item) => typeof item === 'string');
  }
  for (const name of FLAGS) if (body[name] === true) metadata[name] = true;
  return { ok: true, metadata: metadata as unknown as AuthorizationServer };
}

function isAddress(text: string, asked: URL): boolean {
  return text.length <= 2048 && ADDRESS.test(text) && URL.canParse(text) && mayReferTo(asked, new URL(text));
}

function invalid(how: string): ReadMetadata {
  return { ok: false, message: `The metadata of the authorization server ${how}.` };
}
