import type { WebhookEndpointRow } from '../../db/store.ts';
import type { EventType } from '../events/types.ts';

/** These events are as frequent as calls, so they are delivered only to endpoints that list them. */
const ON_REQUEST: ReadonlySet<string> = new Set<EventType>(['execution.succeeded', 'execution.failed']);

/** Whether endpoints that list no event types receive an event of this type. */
export function isDeliveredByDefault(type: string): boolean {
  return !ON_REQUEST.has(type);
}

/** Whether an endpoint with these `event_types` gets events of a type. */
export function includesType(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.length === 0 ? isDeliveredByDefault(type) : eventTypes.includes(type);
}

/** Whether an endpoint receives an event. A test event is only for one endpoint, regardless of its types. */
export function receivesEvent(
  endpoint: Pick<WebhookEndpointRow, 'id' | 'eventTypes'>,
  event: { type: EventType; subject: string },
): boolean {
  if (event.type === 'webhook_endpoint.tested') return endpoint.id === event.subject;
  return includesType(endpoint.eventTypes, event.type);
}
