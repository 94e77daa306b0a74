import type { TypedRules } from './module.ts';

/** A client that is typed for one account, by the names of RFC 6749 §2.3.1. Requests carry the token that it obtains instead. */
export const TYPED_CLIENT: TypedRules = {
  fields: [],
  secretNames: () => ['client_secret', 'private_key'],
};

/** What an account needs whose client is the connection's. */
export const BARE_CLIENT = 'The application must update the account, with empty authorization_details.';
