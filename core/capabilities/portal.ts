import type { CreateSessionDeps } from '../portal/sessions.ts';

/** The dependencies of the API operations on portal sessions, in which users see and manage their accounts. */
export type Portal = CreateSessionDeps;
