import type { CreateSessionDeps } from '../portal/sessions.ts';

/** Sessions in which users see and manage their accounts. */
export type Portal = CreateSessionDeps;
