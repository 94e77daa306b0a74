import type { EventSink } from '../core/events/sink.ts';
import { createPace, createUtilization, type Pace } from '../core/scheduling/pace.ts';
import { createDeliveryQueue, type DeliveryQueue, type DeliveryQueueDeps } from '../core/webhooks/delivery-queue.ts';
import { createEventFeed, type EventFeed, type EventFeedDeps } from '../core/webhooks/event-feed.ts';
import { createWebhookSink } from '../core/webhooks/webhook-sink.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

export interface WebhookParts {
  /** Queues events for webhook endpoints. */
  readonly deliveries: DeliveryQueue;
  /** Streams of stored events. */
  readonly eventFeed: EventFeed;
  /** Stores events and queues their deliveries. */
  readonly webhookSink: EventSink;
  /** Limits how many deliveries start per second, to the rate in the settings. */
  readonly webhookPace: Pace;
}

export function createWebhookParts(
  { config }: Pick<Setup, 'config'>,
  deps: DeliveryQueueDeps & EventFeedDeps & Pick<Runtime, 'wait'> & Pick<Storage, 'store'>,
): WebhookParts {
  const deliveries = createDeliveryQueue(deps);
  const eventFeed = createEventFeed(deps);
  const webhookSink = createWebhookSink({ store: deps.store, deliveries, notifyStored: eventFeed.notifyStored });
  const webhookPace = createPace(config.webhookRate, { wait: deps.wait, utilization: createUtilization() });
  return { deliveries, eventFeed, webhookSink, webhookPace };
}
