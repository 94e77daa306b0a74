import { namesOf, onlyCredentialField } from './credential-field.ts';
import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeKey } from './placing.ts';

const USUAL = 'token';

/** One token that a user obtained at the provider, sent as a bearer token (RFC 6750 §2.1). */
export const bearerToken: AuthorizationModule = {
  connectionType: 'BEARER',
  forms: [STATIC_AUTH],
  entered: {
    fields: [{ field_name: USUAL, label: 'Token', input_type: 'password', required: true }],
    secretNames: (fields) => namesOf(onlyCredentialField(fields, USUAL)),
    place: (pattern, fields, values) => placeKey(pattern, onlyCredentialField(fields, USUAL), values, 'Bearer'),
  },
};
