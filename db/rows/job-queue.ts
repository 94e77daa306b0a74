import type { EnvironmentId } from '../environment-id.ts';
import type { JobRow } from './jobs.ts';

/** Jobs that share a number of places. */
export interface JobLane {
  kind: string;
  environmentId: EnvironmentId;
  lane: string;
}

/** A lane with something to do; `runAt` is the time of the first of its jobs, in milliseconds UTC. */
export type WaitingLane = JobLane & { runAt: number };

export interface JobClaim extends JobLane {
  /** The number of the instance that takes the jobs. */
  owner: number;
  now: number;
  limit: number;
}

/** Names one attempt: when a job is freed or claimed again, it is another one. */
export type JobAttempt = Pick<JobRow, 'id' | 'attempts'> & { owner: number };

export interface JobEnd {
  at: number;
  result?: string | null;
  reason?: string | null;
}

/** How many jobs of a kind are in a state, and the earliest time at which one of them was or is to run. */
export interface JobTally {
  total: number;
  firstRunAt: number | null;
}
