import type { Config, Secrets } from '../http/config/config.ts';
import type { Choose } from './overrides.ts';

/** The settings that every file of the wiring receives in addition to the parts that it uses. */
export interface Setup {
  readonly config: Config;
  readonly secrets: Secrets;
  /** Returns the override of a part, or the part itself. */
  readonly choose: Choose;
  /** Runs the functions that are registered here, in reverse order, when the server stops or if its start fails. */
  readonly closing: Pick<AsyncDisposableStack, 'defer'>;
}
