import type { EventSink } from '../core/events/sink.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryQueueTools } from '../core/webhooks/delivery-queue.ts';
import { createEventFeed, type EventFeed, type EventFeedTools } from '../core/webhooks/event-feed.ts';
import { createWebhookSink } from '../core/webhooks/webhook-sink.ts';

export interface WebhookParts {
  /** Queues events for webhook endpoints. */
  readonly deliveries: DeliveryQueue;
  /** Streams of stored events. */
  readonly eventFeed: EventFeed;
  /** Stores events, and adds them to the queue. */
  readonly webhookSink: EventSink;
}

export function createWebhookParts(parts: DeliveryQueueTools & EventFeedTools): WebhookParts {
  const deliveries = createDeliveryQueue(parts);
  const eventFeed = createEventFeed(parts);
  const webhookSink = createWebhookSink({ deliveries, notifyStored: eventFeed.notifyStored });
  return { deliveries, eventFeed, webhookSink };
}
