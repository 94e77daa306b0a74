import type { OperatorSessionRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentOperatorSession(row: OperatorSessionRow): Schemas['OperatorSession'] {
  return {
    id: row.id,
    state: row.state,
    operator: row.operator,
    role: row.role,
    created_at: rfc3339(row.createdAt),
    last_used_at: optionalTime(row.usedAt),
    expires_at: rfc3339(row.expiresAt),
  };
}
