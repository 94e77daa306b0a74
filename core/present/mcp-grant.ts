import type { OAuthGrantRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentMcpGrant(row: OAuthGrantRow): Schemas['McpGrant'] {
  return {
    id: row.id,
    client: { id: row.clientId, name: row.clientName, kind: row.clientKind, redirect_host: row.redirectHost },
    server_id: row.serverId,
    user: { organization_id: row.organizationId || null, user_id: row.userId || null, identifier: row.identifier },
    scopes: row.scopes as Schemas['McpGrant']['scopes'],
    created_at: rfc3339(row.createdAt),
    last_used_at: rfc3339(row.usedAt),
    expires_at: rfc3339(row.expiresAt),
  };
}
