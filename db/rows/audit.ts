import type { EnvironmentId } from '../environment-id.ts';
import type { JsonObject } from './json-object.ts';

export interface AuditRow {
  seq: number;
  id: string;
  environmentId: EnvironmentId;
  at: number;
  /** The API client. */
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

/** `brokenAt` is the `seq` of the first row that does not follow from the one before, or of the end that is missing. */
export type AuditVerdict = { intact: true; rows: number } | { intact: false; brokenAt: number };

/** The last row of a chain. */
export interface AuditHead {
  seq: number;
  hash: Buffer;
}

/** How far the audit log of an environment was archived. */
export interface AuditArchiveRow {
  environmentId: EnvironmentId;
  /** Records up to this `seq` are in files of the archive. */
  archivedSeq: number;
  /** Records up to this `seq` are no longer in the database. */
  removedSeq: number;
  /** The hash that the first record of the database follows. */
  removedHash: Buffer;
}
