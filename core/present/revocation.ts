import type { OutboxRow } from '../../db/store.ts';
import { rfc3339 } from '../rfc3339.ts';
import { EMPTY } from './optional.ts';
import type { Schemas } from './schemas.ts';

const REVOCATION_STATUSES = { WAITING: 'PENDING', FAILED: 'FAILED', DONE: 'REVOKED' } as const;

export function presentRevocation(row: OutboxRow): Schemas['Revocation'] {
  return {
    id: row.id,
    connected_account_id: row.subjectId ?? EMPTY,
    provider: row.provider ?? EMPTY,
    status: row.result ?? REVOCATION_STATUSES[row.state],
    reason: row.lastError ?? EMPTY,
    attempts: row.attempts,
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
