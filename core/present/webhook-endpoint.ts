import type { WebhookEndpointRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentWebhookEndpoint(row: WebhookEndpointRow): Schemas['WebhookEndpoint'] {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    event_types: row.eventTypes as Schemas['EventType'][],
    ordered: row.ordered,
    algorithm: row.algorithm,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    failing_since: optionalTime(row.failingSince),
    secrets: row.secrets.map((secret) => ({
      id: secret.id,
      public_key: secret.publicKey,
      created_at: rfc3339(secret.createdAt),
      expires_at: optionalTime(secret.expiresAt),
    })),
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
