import { basic } from './basic.ts';
import type { AuthorizationModule } from './module.ts';

/** Another name for BASIC. */
export const basicAuth: AuthorizationModule = basic;
