import type { EnvironmentId } from '../environment-id.ts';

export type JobState = 'WAITING' | 'RUNNING' | 'DONE' | 'FAILED';

/**
 * Work outside of the database, which is tried until it succeeds (DONE) or is given up (FAILED). Times are in
 * milliseconds UTC.
 */
export interface JobRow {
  id: string;
  environmentId: EnvironmentId;
  kind: string;
  /** Only a limited number of the jobs of one kind, environment and lane run at the same time. */
  lane: string;
  /** The object that the job is about, usually an account. */
  subjectId: string | null;
  kekId: string | null;
  wrappedDataKey: Buffer | null;
  payloadSealed: Buffer | null;
  state: JobState;
  /** Attempts that were started since the job was added, or since a client retried it. */
  attempts: number;
  runAt: number;
  giveUpAt: number;
  /** The number of the instance that works on it. */
  owner: number | null;
  /** The result, if the kind distinguishes several successful outcomes. */
  result: string | null;
  /** A sentence for users: why the last attempt failed, or why the job ended. */
  reason: string | null;
  createdAt: number;
  updatedAt: number;
}

type About = Pick<JobRow, 'id' | 'kind' | 'lane' | 'subjectId' | 'giveUpAt' | 'createdAt'>;

export type NewJob = About & Pick<JobRow, 'runAt'> & { kekId: string; wrappedDataKey: Buffer; payloadSealed: Buffer };

/** A job that could not be attempted, with the reason. */
export type FailedJob = About & { reason: string };

/** All given filters must match. */
export interface JobFilters {
  subjectId?: string | undefined;
  kind?: string | undefined;
  state?: JobState | undefined;
  result?: string | undefined;
  /** WAITING or RUNNING. */
  isPending?: true | undefined;
}
