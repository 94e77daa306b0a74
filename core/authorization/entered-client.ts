import type { EntryRules } from './module.ts';

/**
 * An OAuth client that a user enters for one account. The field names are those of RFC 6749 §2.3.1, and `private_key`
 * for a client that signs assertions. Tool calls contain the token that is obtained with the client, never the client
 * itself.
 */
export const ENTERED_CLIENT: EntryRules = {
  fields: [],
  secretNames: () => ['client_secret', 'private_key'],
};

/**
 * The `storeAdvice` (what the application must store if users cannot connect by a link) of types whose accounts can use
 * the client of their connection.
 */
export const BARE_CLIENT = 'The application must update the account, with empty authorization_details.';
