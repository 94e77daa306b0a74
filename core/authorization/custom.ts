import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule } from './module.ts';

/** Fields that the pattern names. Each goes into the header of its name, unless it has a place of its own. */
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
