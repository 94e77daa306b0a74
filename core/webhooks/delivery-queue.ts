import type { EnvironmentId, EventRow, Transaction, WebhookDeliveryRow, WebhookEndpointRow } from '../../db/store.ts';
import { WEBHOOKS } from '../budgets.ts';
import type { JobQueue } from '../jobs/queue.ts';

/**
 * The kind of jobs that make deliveries. The lane of a job (the queue whose concurrent jobs are limited) is the
 * endpoint, and its subject is the delivery.
 */
export const WEBHOOK_DELIVERY = 'webhook_delivery';

export interface DeliveryQueueDeps {
  jobQueue: Pick<JobQueue, 'enqueue'>;
  newId(prefix: 'whd'): string;
  /** Milliseconds UTC. */
  now(): number;
}

export interface DeliveryQueue {
  /** Queues an event for an endpoint. If the endpoint is ordered, the event waits for earlier events of its subject. */
  add(tx: Transaction, endpoint: WebhookEndpointRow, event: EventRow): Promise<void>;
  /** Queues a delivery again, with the count of attempts reset. */
  requeue(tx: Transaction, delivery: WebhookDeliveryRow): Promise<WebhookDeliveryRow>;
  /** Starts the next delivery that waited for this one, if there is one. */
  next(tx: Transaction, ended: WebhookDeliveryRow): Promise<void>;
}

export function createDeliveryQueue({ jobQueue, newId, now }: DeliveryQueueDeps): DeliveryQueue {
  function enqueue(tx: Transaction, environmentId: EnvironmentId, endpointId: string, id: string): Promise<string> {
    const order = { kind: WEBHOOK_DELIVERY, lane: endpointId, subjectId: id, giveUpAfterMs: WEBHOOKS.giveUpMs };
    return jobQueue.enqueue(tx, { ...order, environmentId }, {});
  }

  async function assign(tx: Transaction, { environmentId, endpointId, id }: WebhookDeliveryRow): Promise<void> {
    const jobId = await enqueue(tx, environmentId, endpointId, id);
    await tx.webhookDeliveries.assign(environmentId, id, { jobId, at: now() });
  }

  return {
    async add(tx, endpoint, event) {
      const { environmentId, id: endpointId } = endpoint;
      const { id: eventId, seq: eventSeq, type: eventType, subjectId, createdAt } = event;
      const id = newId('whd');
      const mustWait =
        endpoint.ordered && (await tx.webhookDeliveries.hasPending(environmentId, endpointId, subjectId));
      const jobId = mustWait ? null : await enqueue(tx, environmentId, endpointId, id);
      const about = { id, endpointId, eventId, eventSeq, eventType, subjectId, createdAt };
      await tx.webhookDeliveries.insert(environmentId, { ...about, jobId, nextAttemptAt: mustWait ? null : createdAt });
    },
    async requeue(tx, delivery) {
      await assign(tx, delivery);
      return (await tx.webhookDeliveries.get(delivery.environmentId, delivery.id)) as WebhookDeliveryRow;
    },
    async next(tx, { environmentId, endpointId, subjectId }) {
      const waiting = await tx.webhookDeliveries.nextInOrder(environmentId, endpointId, subjectId);
      if (waiting) await assign(tx, waiting);
    },
  };
}
