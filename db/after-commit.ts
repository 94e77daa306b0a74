import type { Ending } from './ending.ts';

/** Something to do once what a unit has written is committed. */
export type Effect = () => void;

export interface AfterCommit {
  /** Keeps an effect of the unit that is running. */
  add(effect: Effect): void;
  ending: Ending;
  /** Runs the effects of the units that were committed. Call it after the commit. */
  run(): void;
}

/**
 * Holds back the effects of units until their transaction is committed. An effect that ran inside a unit would also happen when the
 * unit is undone, and could look at the database before the change is there.
 *
 * @param report is told of an effect that throws; the others still run
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
      async write() {},
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
