import type { EventSink } from '../core/events/sink.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryQueueTools } from '../core/webhooks/delivery-queue.ts';
import { createWebhookSink } from '../core/webhooks/webhook-sink.ts';

export interface WebhookParts {
  /** Queues events for webhook endpoints. */
  readonly deliveries: DeliveryQueue;
  /** Stores events, and hands them to the queue. */
  readonly webhookSink: EventSink;
}

export function createWebhookParts(parts: DeliveryQueueTools): WebhookParts {
  const deliveries = createDeliveryQueue(parts);
  return { deliveries, webhookSink: createWebhookSink({ deliveries, stored: () => {} }) };
}
