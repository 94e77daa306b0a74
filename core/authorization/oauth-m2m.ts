import { BARE_CLIENT, ENTERED_CLIENT } from './entered-client.ts';
import { OAUTH_TOKEN, STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeBearer } from './placing.ts';

/**
 * Client credentials (RFC 6749 §4.4): the client of the connection, or a client that a user entered for one account.
 */
export const oauthM2m: AuthorizationModule = {
  connectionType: 'OAUTH_M2M',
  forms: [OAUTH_TOKEN, STATIC_AUTH],
  entered: ENTERED_CLIENT,
  placeToken: placeBearer,
  client: { kind: 'registered' },
  obtainingOf: () => 'client_credentials',
  isClient: () => true,
  storeAdvice: BARE_CLIENT,
  metadataGrant: 'client_credentials',
};
