import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIST } from './budgets.ts';

/**
 * Lets other work have its turn of the event loop each time that tools of some size were read or written.
 *
 * @returns a function that is told the size of each tool, in bytes of its JSON; to be awaited
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
