/** Work that runs in a worker thread. Input and output are copied between threads (structured clone). */
export interface Job<Input, Output> {
  /** The module that does the work; it exports a `JobModule`. */
  readonly module: URL;
  /** The longest run in milliseconds, without the start of the thread. */
  readonly timeMs: number;
  /** Never set; it lets the compiler tell jobs apart. */
  readonly types?: (input: Input) => Output;
}

/** What a module of a job exports. An ApiError that it throws reaches the caller as an ApiError. */
export interface JobModule<Input, Output> {
  run(input: Input): Output | Promise<Output>;
}

/** Who a job is for, and what it holds in memory until it is done. */
export interface JobCost {
  /** The environment whose places the job takes. */
  tenant: string;
  /** Size of the input in bytes. */
  bytes: number;
}

/** A thread of a pool: it runs one job at a time. */
export interface JobThread {
  /** False once it can run no further job. */
  readonly usable: boolean;
  /** @throws ApiError from the job, JobLimitError, or the fault that ended the thread */
  run<I, O>(job: Job<I, O>, input: I): Promise<O>;
  /** Ends the thread; a job that runs is rejected. */
  end(): Promise<void>;
}

/** A job ran longer, or took more memory, than it may. Its thread is gone. */
export class JobLimitError extends Error {
  readonly reason: 'time' | 'memory';

  constructor(reason: 'time' | 'memory') {
    super(reason === 'time' ? 'The work exceeded its time limit.' : 'The work exceeded its memory limit.');
    this.name = 'JobLimitError';
    this.reason = reason;
  }
}
