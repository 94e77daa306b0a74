/** What a repository keeps back while a transaction is open, to write it once at its end and not with every unit. */
export interface Ending {
  /** Another transaction begins; the one before may have been lost. */
  begin(): void;
  /** The last unit stays in the transaction, and what it has left here does too. */
  keep(): void;
  /** The last unit was undone, and what it has left here is as well. */
  undo(): void;
  /** Writes what was kept back. It goes before the commit. */
  write(): Promise<void>;
}

/** Several of them as one. */
export function joinEndings(endings: Ending[]): Ending {
  const each = (step: 'begin' | 'keep' | 'undo') => () => {
    for (const ending of endings) ending[step]();
  };
  return {
    begin: each('begin'),
    keep: each('keep'),
    undo: each('undo'),
    async write() {
      for (const ending of endings) await ending.write();
    },
  };
}
