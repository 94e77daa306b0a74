import type { Config, Secrets } from '../http/config.ts';
import type { Choose } from './overrides.ts';

/** What every level of the wiring gets beside the parts that it builds upon. */
export interface Setup {
  readonly config: Config;
  readonly secrets: Secrets;
  /** The override of a part, or the part itself. */
  readonly choose: Choose;
  /** What is opened here is closed in the reverse order, at the stop of the server and when its start fails. */
  readonly closing: Pick<AsyncDisposableStack, 'defer'>;
}
