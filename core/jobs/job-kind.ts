import type { EnvironmentId, JobRow, Transaction } from '../../db/store.ts';

/** One attempt of a job. */
export interface Job extends Pick<JobRow, 'id' | 'kind' | 'lane' | 'subjectId' | 'attempts' | 'createdAt'> {
  environmentId: EnvironmentId;
  /** What was given to `enqueue`. */
  payload: unknown;
}

/** How an attempt ended. A reason is a sentence for people, without secrets. */
export type AttemptOutcome =
  | { kind: 'done'; result?: string; reason?: string }
  /** @property retryAfterMs the least time until the next attempt, where the other side asks for one */
  | { kind: 'retry'; reason: string; retryAfterMs?: number }
  | { kind: 'failed'; reason: string };

/** How a job ended. */
export type JobOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;

/** What runs the jobs of a kind. Times in milliseconds. */
export interface JobKind {
  name: string;
  /** Attempts that run concurrently in one lane. */
  perLane: number;
  /** An attempt that takes longer has failed. */
  attemptMs: number;
  /** The wait after the first failed attempt; it doubles up to the longest, and up to half of it is left to chance. */
  firstRestMs: number;
  longestRestMs: number;
  /** After this time a job is not tried again. */
  giveUpAfterMs: number;
  /** Precedes the reason of a job that was given up. */
  givenUp: string;
  /**
   * Makes one attempt. A job can be run more than once, also when an earlier attempt worked, so its effect must be idempotent.
   *
   * @param signal is aborted when the time is over or the server stops
   */
  run(job: Job, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Called in the transaction that ends the job. */
  ended(tx: Transaction, job: Omit<Job, 'payload'>, outcome: JobOutcome): Promise<void>;
}
