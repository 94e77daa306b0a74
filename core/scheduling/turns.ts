import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIST } from '../budgets.ts';

/**
 * Divides the work on a long list of tools, so that other work can run on the event loop in between.
 *
 * @returns a function to call and await with the size of each tool, in bytes of its JSON. It pauses each time that the
 * tools since the last pause have `LIST.toolsTurnBytes` together
 */
export function createTurns(): (bytes: number) => Promise<void> | undefined {
  let left: number = LIST.toolsTurnBytes;
  return (bytes) => {
    left -= bytes;
    if (left > 0) return undefined;
    left = LIST.toolsTurnBytes;
    return nextTurn();
  };
}
