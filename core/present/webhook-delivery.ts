import type { WebhookAttempt, WebhookDeliveryRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentWebhookDelivery(row: WebhookDeliveryRow): Schemas['WebhookDelivery'] {
  return {
    id: row.id,
    endpoint_id: row.endpointId,
    event_id: row.eventId,
    event_type: row.eventType as Schemas['EventType'],
    subject_id: row.subjectId,
    state: row.state,
    attempts: row.attempts,
    next_attempt_at: optionalTime(row.nextAttemptAt),
    last_attempt: row.lastAttempt && presentAttempt(row.lastAttempt),
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

function presentAttempt(attempt: WebhookAttempt): Schemas['WebhookAttempt'] {
  const { at, durationMs, url, headers, status, body, isCut, error } = attempt;
  const response = status === null ? null : { status, body, is_truncated: isCut };
  return { at: rfc3339(at), duration_ms: durationMs, url, headers, response, error };
}
