import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';

/**
 * Any fields that the pattern declares. Each is sent in the header of the same name, unless the pattern says otherwise.
 */
export const custom: AuthorizationModule = {
  connectionType: 'API_KEY',
  forms: [STATIC_AUTH],
  entered: {
    fields: [],
    secretNames: () => [],
    place: () => [],
    placeField: ({ field_name: name }) => ({ in: 'header', name }),
  },
};
