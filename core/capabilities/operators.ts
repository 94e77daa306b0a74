import type { OperatorDeps } from '../operators/sessions.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on sessions of operators in the console. */
export interface Operators extends Lists, OperatorDeps {
  /** Whether this server has a console. */
  hasConsole: boolean;
}
