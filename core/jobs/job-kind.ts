import type { EnvironmentId, JobRow, Transaction } from '../../db/store.ts';

/** A job, as its attempts see it. */
export interface Job extends Pick<JobRow, 'id' | 'kind' | 'lane' | 'subjectId' | 'attempts' | 'createdAt'> {
  environmentId: EnvironmentId;
  /** The payload that was passed to `enqueue`. */
  payload: unknown;
}

/** How an attempt ended. A reason is a sentence for users and contains no secrets. */
export type AttemptOutcome =
  | { kind: 'done'; result?: string; reason?: string }
  /** @property retryAfterMs the minimum time until the next attempt, if the provider asks for one */
  | { kind: 'retry'; reason: string; retryAfterMs?: number }
  | { kind: 'failed'; reason: string };

/**
 * The outcome of an attempt, and optionally further data to store.
 *
 * @property store stores the data in the transaction that ends the attempt, and returns the final outcome, which may
 * differ. It is called again if the transaction fails
 */
export type Attempted = AttemptOutcome & { store?(tx: Transaction): Promise<AttemptOutcome> };

/** How a job ended. */
export type JobOutcome = Exclude<AttemptOutcome, { kind: 'retry' }>;

/** How jobs of one kind are run. Times are in milliseconds. */
export interface JobKind {
  name: string;
  /** The maximum number of concurrent attempts in one lane: a queue of jobs, for example for one provider. */
  perLane: number | ((lane: string) => number);
  /**
   * The maximum number of concurrent attempts in all lanes of the kind. All kinds without this member share the slots
   * of `JOBS.total`.
   */
  total?: number;
  /**
   * Set if the payload is always empty. Then it is not decrypted, and deleted data is not erased from the files of the
   * database after the job, which would cost much more than the attempt.
   */
  hasNoPayload?: true;
  /** An attempt that takes longer is aborted and retried. */
  attemptMs: number;
  /**
   * The wait after the first failed attempt. It doubles up to the longest wait. Each wait is shortened by a random
   * part, up to half of it.
   */
  firstDelayMs: number;
  longestDelayMs: number;
  /** When this time has passed since a job was added, it is not tried again. */
  giveUpAfterMs: number;
  /** The beginning of the reason of a job that was given up. */
  givenUp: string;
  /**
   * Makes one attempt. A job can run more than once, even after a successful attempt, so its effect must be idempotent.
   *
   * @param signal is aborted when the attempt takes too long or the server stops
   */
  run(job: Job, signal: AbortSignal): Promise<Attempted>;
  /** Called in the transaction that ends the job. */
  ended(tx: Transaction, job: Omit<Job, 'payload'>, outcome: JobOutcome): Promise<void>;
}
