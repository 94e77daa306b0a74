/** Work that runs in a worker thread. Input and output are copied between threads (structured clone). */
export interface Job<Input, Output> {
  /** The module that does the work; it exports a `JobModule`. */
  readonly module: URL;
  /** The maximum run time in milliseconds, without the start of the thread. */
  readonly timeMs: number;
  /** Never set; it lets the compiler distinguish jobs by their types. */
  readonly types?: (input: Input) => Output;
}

/** The exports of a job's module. An ApiError that it throws reaches the caller as an ApiError. */
export interface JobModule<Input, Output> {
  run(input: Input): Output | Promise<Output>;
}

/** What a waiting or running job counts against the limits of the queue. */
export interface JobCost {
  /** The environment that the job is counted for. */
  tenant: string;
  /** The size in bytes of the input, which stays in memory until the job is done. */
  bytes: number;
}

/** A thread of a pool, which runs one job at a time. */
export interface JobThread {
  /** Whether the thread can run further jobs. */
  readonly usable: boolean;
  /**
   * @throws ApiError from the job, JobLimitError, the error of copying the input, or the error that ended the thread
   */
  run<I, O>(job: Job<I, O>, input: I): Promise<O>;
  /** Ends the thread and rejects a running job. */
  end(): Promise<void>;
}

/** A job exceeded its limit of time or memory. Its thread was ended. */
export class JobLimitError extends Error {
  readonly reason: 'time' | 'memory';

  constructor(reason: 'time' | 'memory') {
    super(reason === 'time' ? 'The work exceeded its time limit.' : 'The work exceeded its memory limit.');
    this.name = 'JobLimitError';
    this.reason = reason;
  }
}
