import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';

/** Fields that the pattern names. Each is sent in the header of its name, unless the pattern places it elsewhere. */
export const custom: AuthorizationModule = {
  connectionType: 'API_KEY',
  forms: [STATIC_AUTH],
  typed: {
    fields: [],
    secretNames: () => [],
    place: () => [],
    placeField: ({ field_name: name }) => ({ in: 'header', name }),
  },
};
