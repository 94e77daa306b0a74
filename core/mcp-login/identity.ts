import type { LoginProviderRow, LoginSubject } from '../../db/store.ts';

/** The user that the claims identify, or the reason why the user is rejected. The message is for the user. */
export type Identified = { ok: true; subject: LoginSubject } | { ok: false; message: string };

/** The maximum length of a value, in characters. It is the same as for these fields of accounts. */
const LONGEST = 255;

/**
 * Reads the user from verified claims of a login provider. An email address identifies a user only if the provider has
 * verified it (OpenID Connect Core §5.7). A user is rejected if a claim that the provider's settings name is missing or
 * invalid, or if the organization is not allowed.
 */
export function identify(provider: LoginProviderRow, claims: Readonly<Record<string, unknown>>): Identified {
  const { claims: names, allowedOrganizations, userVerifyUrl, id } = provider;
  const read = { identifier: '', userId: '', organizationId: '' };
  for (const part of ['identifier', 'userId', 'organizationId'] as const) {
    const name = names[part];
    if (name === null) continue;
    const value = textOf(claims, name);
    if (value === undefined) {
      const unverified = name === 'email' ? ', or has not verified it' : '';
      return { ok: false, message: `The login provider sent no valid value of the claim ${name}${unverified}.` };
    }
    read[part] = value;
  }
  if (allowedOrganizations && !allowedOrganizations.includes(read.organizationId))
    return { ok: false, message: 'Users of your organization are not allowed to log in at this server.' };
  return { ok: true, subject: { ...read, userVerifyUrl, identifiedBy: id } };
}

function textOf(claims: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (name === 'email' && claims['email_verified'] !== true) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' && value.length <= LONGEST ? value : undefined;
}
