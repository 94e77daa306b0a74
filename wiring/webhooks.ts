import type { EventSink } from '../core/events/sink.ts';
import { createPace, type Pace } from '../core/scheduling/pace.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryQueueTools } from '../core/webhooks/delivery-queue.ts';
import { createEventFeed, type EventFeed, type EventFeedTools } from '../core/webhooks/event-feed.ts';
import { createWebhookSink } from '../core/webhooks/webhook-sink.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';
import type { Surroundings } from './surroundings.ts';

export interface WebhookParts {
  /** Queues events for webhook endpoints. */
  readonly deliveries: DeliveryQueue;
  /** Streams of stored events. */
  readonly eventFeed: EventFeed;
  /** Stores events, and adds them to the queue. */
  readonly webhookSink: EventSink;
  /** Lets deliveries start at the rate of the settings. */
  readonly webhookPace: Pace;
}

export function createWebhookParts(
  { config }: Pick<Setup, 'config'>,
  parts: DeliveryQueueTools & EventFeedTools & Pick<Surroundings, 'wait'> & Pick<Storage, 'store'>,
): WebhookParts {
  const deliveries = createDeliveryQueue(parts);
  const eventFeed = createEventFeed(parts);
  const webhookSink = createWebhookSink({ store: parts.store, deliveries, notifyStored: eventFeed.notifyStored });
  const webhookPace = createPace(config.webhookRate, parts.wait);
  return { deliveries, eventFeed, webhookSink, webhookPace };
}
