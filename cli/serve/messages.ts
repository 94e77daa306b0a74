/** The messages of the parent to a process that it has started. */
export type ToProcess =
  /** Starts the server. A process that replaces another one takes connections only when it can serve them. */
  | { kind: 'start'; place: number; isReplacement: boolean }
  /** All processes are ready: print the first commands to try, for the operator. */
  | { kind: 'greet' }
  | { kind: 'metrics'; id: number };

/** The messages of a process to its parent. */
export type FromProcess =
  | { kind: 'ready'; origin: string; facts: object }
  /** The start has failed; the message is for the operator. */
  | { kind: 'failed'; message: string }
  /** The metrics as text; null if they could not be collected. */
  | { kind: 'metrics'; id: number; text: string | null };
