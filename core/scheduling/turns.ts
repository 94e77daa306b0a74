import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIST } from '../budgets.ts';

/**
 * Returns a function that lets other work run on the event loop each time that tools of a certain total size
 * (`LIST.toolsTurnBytes`) were read or written.
 *
 * @returns a function to call and await with the size of each tool, in bytes of its JSON
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
