import type { JobRow } from '../../db/store.ts';
import { NOT_REVOCABLE } from '../accounts/revocation-result.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY } from './optional.ts';
import type { Schemas } from './schemas.ts';

/** Returns a job that revokes tokens, presented as a revocation. */
export function presentRevocation(row: JobRow): Schemas['Revocation'] {
  return {
    id: row.id,
    connected_account_id: row.subjectId ?? EMPTY,
    provider: row.lane,
    status: statusOf(row),
    reason: row.reason ?? EMPTY,
    attempts: row.state === 'RUNNING' ? row.attempts - 1 : row.attempts,
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

function statusOf({ state, result }: JobRow): Schemas['RevocationStatus'] {
  if (state === 'FAILED') return 'FAILED';
  if (state !== 'DONE') return 'PENDING';
  return result === NOT_REVOCABLE ? 'NOT_REVOCABLE' : 'REVOKED';
}
