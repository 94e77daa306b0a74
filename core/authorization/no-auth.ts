import type { AuthorizationModule } from './module.ts';

/** The provider needs no credentials. */
export const noAuth: AuthorizationModule = { connectionType: 'NO_AUTH', forms: [] };
