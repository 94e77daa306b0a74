import { api, type Schemas, take } from '../api.ts';

type Key = Schemas['GenerateMagicLinkRequest'];

/** The user for whom this browser has opened a link. */
export interface OpenedLink {
  identifier: string;
  id?: string | undefined;
  user_id?: string | undefined;
}

const PREFIX = 'valetkey-link-';

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
  const opened: OpenedLink = { identifier, id: key.id, user_id: key.user_id };
  localStorage.setItem(PREFIX + state, JSON.stringify(opened));
  const body = { ...key, state, user_verify_url: verifyAddress() };
  return take(api.POST('/api/v1/connected_accounts/magic_link', { body }));
}

/** Creates a link to send to a user. The user returns to the application. */
export async function createLinkToSend(key: Key, userVerifyUrl: string): Promise<Schemas['MagicLink']> {
  const body = { ...key, ...(userVerifyUrl && { user_verify_url: userVerifyUrl }) };
  return take(api.POST('/api/v1/connected_accounts/magic_link', { body }));
}

/**
 * Returns the user for whom this browser has opened a link, and removes the stored entry, so that a link is completed
 * only once. Returns undefined if there is no entry.
 */
export function takeLink(state: string): OpenedLink | undefined {
  const text = localStorage.getItem(PREFIX + state);
  localStorage.removeItem(PREFIX + state);
  return text === null ? undefined : (JSON.parse(text) as OpenedLink);
}
