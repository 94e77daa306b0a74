import { namesOf, onlyCredentialField } from './credential-field.ts';
import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeKey } from './placing.ts';

const USUAL = 'api_key';

/** A single key that the provider issued. */
export const apiKey: AuthorizationModule = {
  connectionType: 'API_KEY',
  forms: [STATIC_AUTH],
  entered: {
    fields: [{ field_name: USUAL, label: 'API key', input_type: 'password', required: true }],
    secretNames: (fields) => namesOf(onlyCredentialField(fields, USUAL)),
    place: (pattern, fields, values) => placeKey(pattern, onlyCredentialField(fields, USUAL), values, ''),
  },
};
