import type { WebhookEndpointRow } from '../../db/store.ts';
import type { EventType } from '../events/types.ts';

/** Every tool call causes one of these, so they are delivered only to endpoints that list them. */
const ON_REQUEST: ReadonlySet<string> = new Set<EventType>(['execution.succeeded', 'execution.failed']);

/** Whether an event is taken by those who ask for all events. */
export function isCommon(type: string): boolean {
  return !ON_REQUEST.has(type);
}

/** Whether an endpoint with these `event_types` gets events of a type. */
export function includesType(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.length === 0 ? isCommon(type) : eventTypes.includes(type);
}

/** Whether an endpoint gets an event. A test event is for one endpoint of any types. */
export function takesEvent(
  endpoint: Pick<WebhookEndpointRow, 'id' | 'eventTypes'>,
  event: { type: EventType; subject: string },
): boolean {
  if (event.type === 'webhook_endpoint.tested') return endpoint.id === event.subject;
  return includesType(endpoint.eventTypes, event.type);
}
