/**
 * Data that a repository collects while a transaction is open and writes once at its end. A transaction can contain
 * several units, and writing the data with each of them would take longer.
 */
export interface Ending {
  /** Another transaction begins. The previous one may have been rolled back. */
  begin(): void;
  /** The last unit succeeded; keep its data. */
  keep(): void;
  /** The last unit was rolled back; discard its data. */
  undo(): void;
  /**
   * Writes the collected data; called before the commit. It must call all statements before it returns the promise,
   * because an engine may send the commit together with them. If the data cannot be written, a statement must fail, so
   * that the commit fails too. Returns undefined if there is nothing to write.
   */
  write(): Promise<void> | undefined;
}

/** Combines several endings into one. */
export function joinEndings(endings: Ending[]): Ending {
  const each = (step: 'begin' | 'keep' | 'undo') => () => {
    for (const ending of endings) ending[step]();
  };
  return {
    begin: each('begin'),
    keep: each('keep'),
    undo: each('undo'),
    write() {
      const writing = endings.map((ending) => ending.write()).filter((each) => each !== undefined);
      return writing.length === 0 ? undefined : Promise.all(writing).then(() => {});
    },
  };
}
