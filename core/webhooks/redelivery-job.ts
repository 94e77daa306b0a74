import type { Store, Transaction } from '../../db/store.ts';
import { WEBHOOKS } from '../budgets.ts';
import type { Job, JobKind } from '../jobs/job-kind.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

/**
 * The kind of jobs that repeat deliveries of an endpoint. The lane of a job (the queue whose concurrent jobs are
 * limited) and its subject are the endpoint.
 */
const WEBHOOK_REDELIVERY = 'webhook_redelivery';

/** Selects the deliveries of an endpoint to repeat. */
export interface RedeliveryRequest {
  /** Deliveries that were created at this time or later, in milliseconds UTC. */
  since: number;
  includeDelivered: boolean;
}

export interface RedeliveryJobDeps {
  store: Pick<Store, 'write'>;
  deliveries: Pick<DeliveryQueue, 'requeue'>;
}

/** Adds a job that repeats deliveries of an endpoint. */
export function requestRedelivery(
  jobQueue: Pick<JobQueue, 'enqueue'>,
  tx: Transaction,
  { environmentId, id }: Pick<Job, 'environmentId' | 'id'>,
  request: RedeliveryRequest,
): Promise<string> {
  const job = { kind: WEBHOOK_REDELIVERY, lane: id, subjectId: id, giveUpAfterMs: WEBHOOKS.giveUpMs };
  return jobQueue.enqueue(tx, { ...job, environmentId }, request);
}

/** Queues deliveries again in small transactions, so that a hundred thousand of them do not delay requests. */
export function redeliveryJob({ store, deliveries }: RedeliveryJobDeps): JobKind {
  return {
    name: WEBHOOK_REDELIVERY,
    perLane: 1,
    attemptMs: WEBHOOKS.redeliveryMs,
    firstDelayMs: 5_000,
    longestDelayMs: 60_000,
    giveUpAfterMs: WEBHOOKS.giveUpMs,
    givenUp: 'Abandoned after six days.',
    async run(job, signal) {
      let afterId: string | undefined = '';
      while (afterId !== undefined) {
        if (signal.aborted) return { kind: 'retry', reason: 'The attempt was interrupted.' };
        const from: string = afterId;
        afterId = await store.write((tx) => queueBatch(tx, deliveries, job, from));
      }
      return { kind: 'done' };
    },
    ended: async () => {},
  };
}

/** @returns the id after which the next batch begins; undefined at the end */
async function queueBatch(
  tx: Transaction,
  deliveries: RedeliveryJobDeps['deliveries'],
  { environmentId, lane: endpointId, payload, createdAt }: Job,
  afterId: string,
): Promise<string | undefined> {
  const { since, includeDelivered } = payload as RedeliveryRequest;
  const { redeliveredRows: limit, redeliverySlice: slice } = WEBHOOKS;
  // A delivery that ended after the job was created was attempted after the request to repeat it, so it is not
  // selected.
  const range = { endpointId, afterId, createdFrom: since, endedUntil: createdAt, limit, slice };
  const { rows, next } = await tx.webhookDeliveries.ended(environmentId, range);
  for (const delivery of rows) {
    if (includeDelivered || delivery.state === 'FAILED') await deliveries.requeue(tx, delivery);
  }
  return next;
}
