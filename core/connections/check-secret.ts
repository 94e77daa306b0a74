import { moduleOf } from '../authorization/registry.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { readPrivateKey } from '../oauth/private-key.ts';
import type { Secret } from '../secret.ts';
import { readSmartClientKey } from '../smart-fhir/client-key.ts';
import { withoutByteOrderMark } from '../text/byte-order-mark.ts';

const PEM_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const KEY_FILE_LEVELS = 4;
/** Control characters, invisible format characters such as a byte order mark, and line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Checks the client secret of a connection by the rules of its pattern, which may require the key file of a service
 * account, a private key, or a plain client secret.
 *
 * @returns what is wrong with it, for an error that names the field; undefined if it can be used. The text contains no
 * part of the secret
 */
export function clientSecretProblem(pattern: AuthPattern, secret: Secret): string | undefined {
  const demanded = moduleOf(pattern.type).client?.secret;
  if (demanded) return readingProblem(() => demanded.read(secret, pattern), demanded.demand);
  if (pattern.oauth_config?.client_auth_method === 'private_key_jwt') {
    const read = isRecordSystem(pattern) ? readSmartClientKey : readPrivateKey;
    return readingProblem(() => read(secret), 'must be a private key.');
  }
  return plainSecretProblem(secret.reveal());
}

/** Checks a secret that is sent as it is. */
function plainSecretProblem(text: string): string | undefined {
  const members = membersOf(parsedJson(text));
  // Sent as a client secret, a private key would leave this service in plain text.
  if (PEM_KEY.test(text) || members.some((name) => name === 'd' || name === 'private_key'))
    return 'must be a client secret, not a private key: the provider does not accept keys';
  if (members.includes('client_secret')) return 'must be the client secret alone, not the file that contains it';
  // RFC 6749 appendix A.2 does not allow these characters. A copied secret often ends with a line break.
  if (INVISIBLE.test(text)) return 'must not contain line breaks, control characters or invisible characters';
  return undefined;
}

function readingProblem(read: () => unknown, demand: string): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof OAuthConfigError) return `${demand} ${error.message}`;
    throw error;
  }
}

function parsedJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    return undefined;
  }
}

/** Returns the names of the members in a JSON value, down to the fourth level: files with keys have few levels. */
function membersOf(value: unknown, levels = KEY_FILE_LEVELS): string[] {
  if (typeof value !== 'object' || value === null || levels === 0) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap((member) => membersOf(member, levels - 1))];
}
