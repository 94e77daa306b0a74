import type { OperatorDeps } from '../operators/sessions.ts';
import type { Lists } from './lists.ts';

/** Sessions of operators in the console. */
export interface Operators extends Lists, OperatorDeps {
  /** Whether this server has a console. */
  hasConsole: boolean;
}
