import type { AuditRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentAuditEvent(row: AuditRow): Schemas['AuditEvent'] {
  return {
    id: row.id,
    seq: row.seq,
    created_at: rfc3339(row.at),
    actor: row.actor,
    action: row.action,
    subject_id: row.subjectId ?? EMPTY,
    request_id: row.requestId ?? EMPTY,
    details: row.details,
    prev_hash: row.prevHash.toString('hex'),
    hash: row.hash.toString('hex'),
  };
}
