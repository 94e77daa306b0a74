import type { EnvironmentId } from '../environment-id.ts';
import type { JobRow } from './jobs.ts';

/** A lane: jobs of which only a limited number run at the same time. */
export interface JobLane {
  kind: string;
  environmentId: EnvironmentId;
  lane: string;
}

/** A lane with waiting jobs; `runAt` is the time of the first one, in milliseconds UTC. */
export type WaitingLane = JobLane & { runAt: number };

export interface JobClaim extends JobLane {
  /** The number of the instance that takes the jobs. */
  owner: number;
  now: number;
  limit: number;
}

/** Identifies one attempt: a job that is released or claimed again is in another attempt. */
export type JobAttempt = Pick<JobRow, 'id' | 'attempts'> & { owner: number };

export interface JobEnd {
  at: number;
  result?: string | null;
  reason?: string | null;
}

/**
 * How many jobs of a kind have a state, up to the limit of the count, and the earliest `runAt` of all of them; null if
 * there are none.
 */
export interface JobTally {
  total: number;
  firstRunAt: number | null;
}
