import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeKey } from './placing.ts';
import { namesOf, soleKey } from './sole-key.ts';

const USUAL = 'api_key';

/** A single key that the provider issued. */
export const apiKey: AuthorizationModule = {
  connectionType: 'API_KEY',
  forms: [STATIC_AUTH],
  typed: {
    fields: [{ field_name: USUAL, label: 'API key', input_type: 'password', required: true }],
    secretNames: (fields) => namesOf(soleKey(fields, USUAL)),
    place: (pattern, fields, values) => placeKey(pattern, soleKey(fields, USUAL), values, ''),
  },
};
