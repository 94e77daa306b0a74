import { createPrivateKey, type KeyObject } from 'node:crypto';
import { OAuthConfigError } from '../oauth/config-error.ts';
import type { Secret } from '../secret.ts';
import { withoutByteOrderMark } from '../text/byte-order-mark.ts';
import { isRecord } from '../tools/pointer.ts';

/** A service account, as described by its key file. */
export interface ServiceAccount {
  /** Identifies the account in assertions. */
  clientEmail: string;
  /** The id to which an administrator grants the delegation; null if the file does not contain it. */
  clientId: string | null;
  /** Tells the provider which of the account's keys was used. */
  keyId: string | null;
  /** RSA, at least 2048 bits. */
  privateKey: KeyObject;
  /** The https address that its assertions are sent to. */
  tokenUri: URL;
}

const MIN_BITS = 2048;
/** Token endpoints that Google has moved. Its older key files name the former hosts, and still work. */
const MOVED_TO: Readonly<Record<string, string>> = {
  'accounts.google.com': 'oauth2.googleapis.com',
  'www.googleapis.com': 'oauth2.googleapis.com',
};
const EMAIL = /^[^\s@<>"]{1,128}@[^\s@<>"]{1,253}$/;

/**
 * Reads the JSON key file of a service account.
 *
 * @param file the whole text of the key file
 * @throws OAuthConfigError with the problem; neither message nor cause contains a part of the file
 */
export function readServiceAccount(file: Secret): ServiceAccount {
  const json = parse(file);
  if (json['type'] !== 'service_account') {
    throw new OAuthConfigError('The JSON is not a service account key: its "type" is not "service_account".');
  }
  const clientEmail = textIn(json, 'client_email');
  if (!EMAIL.test(clientEmail))
    throw new OAuthConfigError('"client_email" of the service account key is not an email address.');
  return {
    clientEmail,
    clientId: optionalTextIn(json, 'client_id'),
    keyId: optionalTextIn(json, 'private_key_id'),
    privateKey: readKey(textIn(json, 'private_key')),
    tokenUri: readTokenUri(textIn(json, 'token_uri')),
  };
}

/**
 * Checks that a key file belongs to the provider that its assertions are sent to.
 *
 * @param file the whole text of the key file
 * @param tokenEndpoint the token endpoint of the provider; undefined if it is not known yet
 * @throws OAuthConfigError if the file cannot be used, or names a token endpoint on another host
 */
export function checkServiceAccount(file: Secret, tokenEndpoint: URL | undefined): void {
  const { host } = readServiceAccount(file).tokenUri;
  if (tokenEndpoint === undefined || host === tokenEndpoint.host || MOVED_TO[host] === tokenEndpoint.host) return;
  throw new OAuthConfigError(
    `"token_uri" of the service account key is at ${host}, but the token endpoint of the provider is at ${tokenEndpoint.host}.`,
  );
}

function parse(file: Secret): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(withoutByteOrderMark(file.reveal()));
  } catch {
    // The cause is omitted, because the parser's message quotes its input.
    throw new OAuthConfigError('The service account key is not JSON. Use the whole key file.');
  }
  if (!isRecord(value)) throw new OAuthConfigError('The service account key is not a JSON object.');
  return value;
}

function textIn(json: Record<string, unknown>, name: string): string {
  const value = optionalTextIn(json, name);
  if (value === null) throw new OAuthConfigError(`The service account key has no "${name}".`);
  return value;
}

function optionalTextIn(json: Record<string, unknown>, name: string): string | null {
  const value = Object.hasOwn(json, name) ? json[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

function readKey(pem: string): KeyObject {
  const key = privateKeyOf(pem);
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_BITS) {
    throw new OAuthConfigError(
      `"private_key" of the service account key is not an RSA key of ${MIN_BITS} bits or more.`,
    );
  }
  return key;
}

function privateKeyOf(pem: string): KeyObject {
  try {
    // In a file that was passed in an environment variable, line breaks are often escaped twice.
    return createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw new OAuthConfigError('"private_key" of the service account key is not a private key in PEM.');
  }
}

function readTokenUri(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new OAuthConfigError(
      '"token_uri" of the service account key is not an https URL without a user name or fragment.',
    );
  }
  return url;
}
