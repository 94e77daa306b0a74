import type { EnvironmentId } from '../environment-id.ts';

/** An event as it is delivered. */
export interface EventRow {
  /** The position in the order of commits. */
  seq: number;
  id: string;
  environmentId: EnvironmentId;
  type: string;
  subjectId: string;
  /** The event as JSON text. It contains no secret. */
  body: string;
  /** Milliseconds UTC. */
  createdAt: number;
}

export type NewEvent = Omit<EventRow, 'seq' | 'environmentId'>;

/** Every filter that is given must match. */
export interface EventFilters {
  type?: string | undefined;
  subjectId?: string | undefined;
  /** Milliseconds UTC: at or after, and before. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}
