import type { OAuthClientRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentMcpClient(row: OAuthClientRow): Schemas['McpClient'] {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    redirect_uris: row.redirectUris,
    token_endpoint_auth_method: row.authMethod,
    created_at: rfc3339(row.createdAt),
    last_used_at: optionalTime(row.usedAt),
  };
}
