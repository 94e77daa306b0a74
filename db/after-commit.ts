import type { Ending } from './ending.ts';

/** A function that is called after the commit of a unit, which is a function that reads and writes in a transaction. */
export type Effect = () => void;

export interface AfterCommit {
  /** Adds an effect of the running unit. */
  add(effect: Effect): void;
  ending: Ending;
  /** Runs the effects of the committed units. Call it after the commit. */
  run(): void;
}

/**
 * Collects the effects of units until their transaction is committed. Otherwise an effect would also happen if its unit
 * is rolled back, and it could read the database before the change is visible.
 *
 * @param report receives the error of an effect; the other effects still run
 */
export function createAfterCommit(report: (error: unknown) => void): AfterCommit {
  let ofUnit: Effect[] = [];
  let kept: Effect[] = [];
  return {
    add: (effect) => void ofUnit.push(effect),
    ending: {
      begin() {
        ofUnit = [];
        kept = [];
      },
      keep() {
        if (ofUnit.length > 0) kept.push(...ofUnit.splice(0));
      },
      undo() {
        ofUnit = [];
      },
      write: () => undefined,
    },
    run() {
      for (const effect of kept.splice(0)) {
        try {
          effect();
        } catch (error) {
          report(error);
        }
      }
    },
  };
}
