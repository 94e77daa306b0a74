import { hash } from 'node:crypto';
import type { AuthPattern } from './auth-pattern.ts';
import { placementOutline } from './placement.ts';

/**
 * Caches digests by pattern. The map is weak, because patterns of custom providers exist only for one request. Patterns
 * of the catalogue exist as long as the process.
 */
const known = new WeakMap<AuthPattern, Map<string, string>>();

/**
 * Returns a digest of how requests contain a credential of a pattern: the places and names of its parts, their prefixes
 * and suffixes, and how requests are signed. If two patterns have the same digest, they send a stored credential in the
 * same way.
 *
 * @param fields the names of the static fields of the credential
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
