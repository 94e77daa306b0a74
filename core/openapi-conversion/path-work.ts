/** The overlays of an import exceed the limit of `PathWork`. */
export class PathWorkError extends Error {
  constructor() {
    super('The overlays select too many nodes.');
    this.name = 'PathWorkError';
  }
}

/** Counts the cost of all JSONPaths and changes by the overlays of one import, up to a maximum. */
export class PathWork {
  #steps: number;
  /** How many more steps the regular expressions of `match()` and `search()` may take. */
  readonly patterns: { steps: number };

  constructor(steps: number, patternSteps: number) {
    this.#steps = steps;
    this.patterns = { steps: patternSteps };
  }

  /** Counts nodes that are visited, compared or copied. @throws PathWorkError if the limit is reached */
  step(nodes = 1): void {
    this.#steps -= nodes;
    if (this.#steps < 0) throw new PathWorkError();
  }
}
