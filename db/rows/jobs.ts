import type { EnvironmentId } from '../environment-id.ts';

export type JobState = 'WAITING' | 'RUNNING' | 'DONE' | 'FAILED';

/** Work outside of the database; the migration says what each state means. Times in milliseconds UTC. */
export interface JobRow {
  id: string;
  environmentId: EnvironmentId;
  kind: string;
  /** Jobs of one kind, environment and lane share a number of places. */
  lane: string;
  /** What the job is about, usually an account. */
  subjectId: string | null;
  kekId: string | null;
  payloadSealed: Buffer | null;
  state: JobState;
  /** Attempts that were begun since the job was added, or tried again by a client. */
  attempts: number;
  runAt: number;
  giveUpAt: number;
  /** The number of the instance that works on it. */
  owner: number | null;
  /** How it ended, where the kind knows more than one good end. */
  result: string | null;
  /** A sentence for people: why the last attempt failed, or why it ended so. */
  reason: string | null;
  createdAt: number;
  updatedAt: number;
}

type About = Pick<JobRow, 'id' | 'kind' | 'lane' | 'subjectId' | 'giveUpAt' | 'createdAt'>;

export type NewJob = About & Pick<JobRow, 'runAt'> & { kekId: string; payloadSealed: Buffer };

/** A job that could not be added, written down with the reason. */
export type FailedJob = About & { reason: string };

/** Every filter that is given must match. */
export interface JobFilters {
  subjectId?: string | undefined;
  kind?: string | undefined;
  state?: JobState | undefined;
  result?: string | undefined;
  /** WAITING or RUNNING. */
  isPending?: true | undefined;
}
