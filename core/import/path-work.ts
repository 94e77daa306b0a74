/** A document and its overlays take too much work. */
export class PathWorkError extends Error {
  constructor() {
    super('The overlays select too many nodes.');
    this.name = 'PathWorkError';
  }
}

/** What the JSONPaths and changes of all overlays of one import may cost together. */
export class PathWork {
  #steps: number;
  /** States that patterns may enter. */
  readonly patterns: { steps: number };

  constructor(steps: number, patternSteps: number) {
    this.#steps = steps;
    this.patterns = { steps: patternSteps };
  }

  /** Counts nodes that are visited, compared or copied. @throws PathWorkError when none are left */
  step(nodes = 1): void {
    this.#steps -= nodes;
    if (this.#steps < 0) throw new PathWorkError();
  }
}
