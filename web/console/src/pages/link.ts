import { api, type Schemas, take } from '../api.ts';
import { rememberLink } from '../opened-links.ts';

type Key = Schemas['GenerateMagicLinkRequest'];

/** The address to which the browser returns after a link that was opened here. */
export function verifyAddress(): string {
  return `${location.origin}/console/verified`;
}

/**
 * Creates a link that is opened in this browser. The console is then the application that verifies the user: it stores
 * the user for whom it created the link, and completes only links that it has stored.
 *
 * @param identifier the identifier of the account
 */
export async function createLinkForHere(key: Key, identifier: string): Promise<Schemas['MagicLink']> {
  const state = crypto.randomUUID();
  rememberLink(state, { identifier, id: key.id, user_id: key.user_id });
  const body = { ...key, state, user_verify_url: verifyAddress() };
  return take(api.POST('/api/v1/connected_accounts/magic_link', { body }));
}

/**
 * Creates a link to send to a user.
 *
 * @param userVerifyUrl the address of the application to which the user returns; empty for none
 */
export async function createLinkToSend(key: Key, userVerifyUrl: string): Promise<Schemas['MagicLink']> {
  const body = { ...key, ...(userVerifyUrl && { user_verify_url: userVerifyUrl }) };
  return take(api.POST('/api/v1/connected_accounts/magic_link', { body }));
}
