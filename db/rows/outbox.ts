import type { EnvironmentId } from '../environment-id.ts';

export type OutboxState = 'WAITING' | 'DONE' | 'FAILED';
export type OutboxResult = 'REVOKED' | 'NOT_REVOCABLE';

/** Work to be done outside. It is WAITING until it is DONE, or FAILED for good; an end removes the payload. */
export interface OutboxRow {
  id: string;
  environmentId: EnvironmentId;
  kind: string;
  subjectId: string | null;
  provider: string | null;
  kekId: string | null;
  payloadSealed: Buffer | null;
  state: OutboxState;
  attempts: number;
  nextAt: number;
  giveUpAt: number;
  result: OutboxResult | null;
  lastError: string | null;
  createdAt: number;
  updatedAt: number;
}

type About = Pick<OutboxRow, 'id' | 'kind' | 'subjectId' | 'nextAt' | 'giveUpAt' | 'createdAt'> & {
  provider?: string | null;
};

export type NewOutboxEntry = About & { kekId: string; payloadSealed: Buffer };

/** Work that failed before it could be attempted. */
export type EndedOutboxEntry = About & { error: string };

export interface OutboxEnd {
  at: number;
  result?: OutboxResult | null;
  /** A sentence for users. */
  error?: string | null;
}

export interface OutboxFilters {
  kind: string;
  subjectId?: string;
  state?: OutboxState;
  result?: OutboxResult;
}
