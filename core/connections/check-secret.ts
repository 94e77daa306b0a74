import { moduleOf } from '../authorization/registry.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { readJwk, readPrivateKey } from '../oauth/private-key.ts';
import type { Secret } from '../secret.ts';
import { readSmartClientKey } from '../smart-fhir/client-key.ts';

const PEM_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/**
 * Checks the client secret of a connection by the rules of its type, which may require the key file of a service
 * account, a private key, or a client secret in the narrow sense.
 *
 * @returns what is wrong with it, for an error that names the field; undefined if it can be used. The text contains no
 * part of the secret
 */
export function clientSecretProblem(pattern: AuthPattern, secret: Secret): string | undefined {
  const demanded = moduleOf(pattern.type).client?.secret;
  if (demanded) return readingProblem(() => demanded.read(secret), demanded.demand);
  if (pattern.oauth_config?.client_auth_method === 'private_key_jwt') {
    const read = isRecordSystem(pattern) ? readSmartClientKey : readPrivateKey;
    return readingProblem(() => read(secret), 'must be a private key.');
  }
  // Sent as a client secret, a private key would leave this service in plain text.
  return isPrivateKey(secret)
    ? 'must be a client secret, not a private key: the provider does not accept keys'
    : undefined;
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

function isPrivateKey(secret: Secret): boolean {
  const text = secret.reveal();
  const json = readJwk(text) as Record<string, unknown> | null | undefined;
  return PEM_KEY.test(text) || typeof json?.['d'] === 'string' || typeof json?.['private_key'] === 'string';
}
