import type { EnvironmentId } from '../environment-id.ts';
import type { JsonObject } from './json-object.ts';

export interface AuditRow {
  seq: number;
  id: string;
  environmentId: EnvironmentId;
  at: number;
  /** The id of the API client, `operator:` and the name of the operator, or for example `system`. */
  actor: string;
  action: string;
  subjectId: string | null;
  requestId: string | null;
  /** Never contains a secret. */
  details: JsonObject;
  prevHash: Buffer;
  hash: Buffer;
}

export type NewAuditRow = Omit<AuditRow, 'seq' | 'environmentId' | 'prevHash' | 'hash' | 'details'> & {
  details?: JsonObject;
};

/** Every filter that is given must match. */
export interface AuditFilters {
  actor?: string | undefined;
  action?: string | undefined;
  subjectId?: string | undefined;
  /** Milliseconds UTC: at or after, and before. */
  createdFrom?: number | undefined;
  createdBefore?: number | undefined;
}

/**
 * `brokenAt`: the `seq` of the first row whose `hash` or `prevHash` is wrong, or before which a row is missing. If rows
 * are missing at the end of a chain, the `seq` of the last row that the stored or the published head of it names.
 */
export type AuditVerdict = { intact: true; rows: number } | { intact: false; brokenAt: number };

/** The last row of a chain. */
export interface AuditHead {
  seq: number;
  hash: Buffer;
}

/** Up to which record a chain of an environment's audit log was archived. */
export interface AuditArchiveRow {
  environmentId: EnvironmentId;
  /** Records up to this `seq` are in files of the archive. */
  archivedSeq: number;
  /** Records up to this `seq` were deleted from the database. */
  removedSeq: number;
  /** The hash of the record before the first one in the database. */
  removedHash: Buffer;
}
