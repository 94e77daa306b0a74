import type { Config, Secrets } from '../http/config/config.ts';
import type { Choose } from './overrides.ts';

/** The settings that every file of the wiring receives in addition to the parts that it uses. */
export interface Setup {
  readonly config: Config;
  readonly secrets: Secrets;
  /** Returns the override of a part, or the part itself. */
  readonly choose: Choose;
  /** Closes what is registered here in the reverse order, at the stop of the server and if its start fails. */
  readonly closing: Pick<AsyncDisposableStack, 'defer'>;
}
