import type { ApiClientRow, ApiClientSecretRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentApiClient(row: ApiClientRow, secrets: ApiClientSecretRow[]): Schemas['ApiClient'] {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as Schemas['Scope'][],
    enabled: row.enabled,
    created_at: rfc3339(row.createdAt),
    secrets: secrets.map((secret) => ({
      id: secret.id,
      prefix: secret.prefix,
      created_at: rfc3339(secret.createdAt),
      expires_at: optionalTime(secret.expiresAt),
    })),
  };
}
