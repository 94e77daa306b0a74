import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { launchContextChange, readLaunchContext } from '../smart-fhir/launch-context.ts';
import { OAUTH_TOKEN, STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule, HeldParts } from './module.ts';
import { placeBearer } from './placing.ts';
import { BARE_CLIENT, TYPED_CLIENT } from './typed-client.ts';

/** A record system (SMART App Launch 2.2): a user launches the application, or it is a backend service. */
export const smartFhir: AuthorizationModule = {
  connectionType: 'SMART_FHIR',
  forms: [OAUTH_TOKEN, STATIC_AUTH],
  typed: TYPED_CLIENT,
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
  // The patient or encounter that the user had open in the record system, or chose there.
  configOf: (tokenResponse) => launchContextChange(readLaunchContext(tokenResponse)),
  storeAdvice: BARE_CLIENT,
  metadataGrant: 'authorization_code',
};

/** All scopes are those of backend services: no user grants access, the client itself has it (SMART App Launch 2.2). */
function isBackend({ oauth_config: config = {} }: AuthPattern): boolean {
  const scopes = config.available_scopes ?? [];
  return scopes.length > 0 && scopes.every(({ scope }) => scope.startsWith('system/'));
}

/** A token that a user granted. What a backend service holds is a key, or what was obtained with one. */
function holdsUserToken({ temporarySealed, publicDetails }: HeldParts): boolean {
  return temporarySealed === null && Object.hasOwn(publicDetails ?? {}, OAUTH_TOKEN.name);
}
