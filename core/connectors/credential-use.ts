import { hash } from 'node:crypto';
import type { AuthPattern } from './auth-pattern.ts';
import { placementOutline } from './placement.ts';

/** Patterns of the catalogue live as long as the process; those of custom providers are read for each request. */
const known = new WeakMap<AuthPattern, Map<string, string>>();

/**
 * Stands for how requests carry a credential of a pattern: the places and names of its parts, what is put around its values, and how
 * requests are signed with it. A pattern with another digest would send a stored credential in another way.
 *
 * @param fields the names of the static fields that the credential holds
 * @returns SHA-256 in base64url
 */
export function credentialUse(pattern: AuthPattern, fields: readonly string[]): string {
  const names = [...fields].sort();
  const digests = known.get(pattern) ?? new Map<string, string>();
  known.set(pattern, digests);
  const name = names.join();
  const digest = digests.get(name) ?? digestOf(pattern, names);
  digests.set(name, digest);
  return digest;
}

function digestOf(pattern: AuthPattern, fields: readonly string[]): string {
  const { type, is_mcp: isMcp = false, oauth_config: config = {} } = pattern;
  const { signature_method, signature_placement, realm, signing_service } = config;
  const signing = [signature_method, signature_placement, realm, signing_service].map((value) => value ?? null);
  return hash('sha256', JSON.stringify([type, isMcp, placementOutline(pattern, fields), signing]), 'base64url');
}
