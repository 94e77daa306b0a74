import type { Details } from '../accounts/authorization-details.ts';
import type { FieldSecrecy } from '../accounts/binding.ts';
import { formOf } from '../accounts/details.ts';
import { isObject } from '../accounts/merge.ts';
import type { Credential } from '../connectors/credential.ts';
import { Secret } from '../secret.ts';

/**
 * Returns the credential that requests of an account contain, from its decrypted details.
 *
 * @param fields the account's binding: which static fields were secret when they were supplied
 * @param consumerKey the client id of the connection, which signed calls contain next to the token
 * @returns null if there are details, but no access token that a request could contain; kind `none` without details
 */
export function credentialOf(details: Details, fields: FieldSecrecy, consumerKey: string | null): Credential | null {
  const form = formOf(details);
  if (form === null) return { kind: 'none' };
  const value = details[form] ?? {};
  if (form === 'static_auth') {
    const secret = new Set(Object.keys(fields).filter((name) => fields[name] === 'secret'));
    return { kind: 'static', details: asSecrets(value['details']), secret };
  }
  const accessToken = value['access_token'];
  if (typeof accessToken !== 'string' || accessToken === '') return null;
  return { kind: 'token', accessToken: new Secret(accessToken), ...(consumerKey !== null && { consumerKey }) };
}

function asSecrets(details: unknown): Record<string, Secret> {
  const texts = Object.entries(isObject(details) ? details : {}).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts.map(([name, value]) => [name, new Secret(value as string)]));
}
