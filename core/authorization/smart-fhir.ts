import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { launchContextChange, readLaunchContext } from '../smart-fhir/launch-context.ts';
import { BARE_CLIENT, ENTERED_CLIENT } from './entered-client.ts';
import { OAUTH_TOKEN, STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule, CredentialColumns } from './module.ts';
import { placeBearer } from './placing.ts';

/**
 * A health record system (SMART App Launch 2.2): a user launches the application, or the account is a backend service.
 */
export const smartFhir: AuthorizationModule = {
  connectionType: 'SMART_FHIR',
  forms: [OAUTH_TOKEN, STATIC_AUTH],
  entered: ENTERED_CLIENT,
  placeToken: placeBearer,
  client: { kind: 'registered' },
  consent: {
    protocol: 'oauth2',
    isFor: (pattern) => !isBackend(pattern),
    isPossible: (pattern) => !isBackend(pattern),
  },
  isClient: isBackend,
  obtainingOf: (account) => (holdsUserToken(account) ? 'refresh_token' : 'client_credentials'),
  isRecordSystem: true,
  // The launch context: the patient and other data that the user had open or selected in the record system.
  configOf: (tokenResponse) => launchContextChange(readLaunchContext(tokenResponse)),
  storeAdvice: BARE_CLIENT,
  metadataGrant: 'authorization_code',
};

/** Whether all scopes are those of backend services, which need no user's consent (SMART App Launch 2.2). */
function isBackend({ oauth_config: config = {} }: AuthPattern): boolean {
  const scopes = config.available_scopes ?? [];
  return scopes.length > 0 && scopes.every(({ scope }) => scope.startsWith('system/'));
}

/**
 * Whether the account has a token that a user granted. A backend service has a key, or a token that Valetkey obtained
 * with the key and stores in `temporarySealed`.
 */
function holdsUserToken({ temporarySealed, publicDetails }: CredentialColumns): boolean {
  return temporarySealed === null && Object.hasOwn(publicDetails ?? {}, OAUTH_TOKEN.name);
}
