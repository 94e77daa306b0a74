import type { Events } from '../events/events.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { DeliveryQueue } from '../webhooks/delivery-queue.ts';
import type { EndpointDeps } from '../webhooks/endpoints.ts';
import type { EventFeed } from '../webhooks/event-feed.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on stored events, webhook endpoints and deliveries. */
export interface Webhooks extends Lists, EndpointDeps {
  events: Events;
  deliveries: DeliveryQueue;
  eventFeed: Pick<EventFeed, 'requireFreeStream' | 'follow'>;
  jobQueue: Pick<JobQueue, 'enqueue'>;
}
