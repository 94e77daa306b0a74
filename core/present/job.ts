import type { JobRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY, optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

/** Returns a job without its payload. */
export function presentJob(row: JobRow): Schemas['Job'] {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    subject_id: row.subjectId ?? EMPTY,
    attempts: row.attempts,
    next_attempt_at: optionalTime(row.state === 'WAITING' ? row.runAt : null),
    last_error: row.reason ?? EMPTY,
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
