import type { Store, Transaction, WebhookDeliveryRow, WebhookEndpointRow } from '../../db/store.ts';
import { WEBHOOKS } from '../budgets.ts';
import type { Events } from '../events/events.ts';
import type { AttemptOutcome, Job, JobKind } from '../jobs/job-kind.ts';
import type { Egress } from '../net/egress.ts';
import { fraction } from '../random.ts';
import type { Pace } from '../scheduling/pace.ts';
import { type DeliveryQueue, WEBHOOK_DELIVERY } from './delivery-queue.ts';
import { disableFailing } from './failing-endpoint.ts';
import { type DeliverySendDeps, type SentDelivery, sendDelivery } from './send-delivery.ts';

export interface DeliveryJobDeps extends DeliverySendDeps {
  store: Pick<Store, 'read' | 'shareReads'>;
  events: Events;
  deliveries: DeliveryQueue;
  egressOf(environment: { id: string; kind: 'DEVELOPMENT' | 'PRODUCTION' }): Egress;
  random(size: number): Buffer;
  /** Lets attempts start at a limited rate. */
  webhookPace: Pace;
}

/** The outcome if another job makes the delivery now, or the delivery was deleted or has already succeeded. */
const SKIPPED: AttemptOutcome = { kind: 'done', result: 'SKIPPED' };
const DISABLED = 'The endpoint is disabled.';

/**
 * Delivers an event to a webhook endpoint, which may receive the event more than once. A failed attempt is repeated
 * after the wait of `WEBHOOKS.retryDelaysMs`, shortened by a random part of up to a fifth, or after the longer wait
 * that the endpoint requests, up to `WEBHOOKS.longestDelayMs`. One transaction stores the result of an attempt, the
 * state of the endpoint, the start of the next delivery in order and the end of the job. If the last attempt of an
 * endpoint failed, fewer of its deliveries run at a time, so that endpoints which hang do not block the others.
 */
export function deliveryJob(deps: DeliveryJobDeps): JobKind {
  const { store, deliveries, now } = deps;
  /** Endpoints whose last attempt failed. */
  const failing = new Set<string>();
  return {
    name: WEBHOOK_DELIVERY,
    perLane: (endpointId) => (failing.has(endpointId) ? WEBHOOKS.perFailingEndpoint : WEBHOOKS.perEndpoint),
    total: WEBHOOKS.total,
    hasNoPayload: true,
    attemptMs: WEBHOOKS.attemptMs,
    // These are only minimum waits: `run` returns the wait after each failed attempt as `retryAfterMs`.
    firstDelayMs: 1000,
    longestDelayMs: 1000,
    giveUpAfterMs: WEBHOOKS.giveUpMs,
    givenUp: 'Abandoned after six days.',
    async run(job, signal) {
      await deps.webhookPace(signal);
      void store.shareReads();
      const { environmentId, lane: endpointId } = job;
      const delivery = await store.read.webhookDeliveries.get(environmentId, job.subjectId ?? '');
      if (delivery?.jobId !== job.id || delivery.state === 'DELIVERED') return SKIPPED;
      const [endpoint, event, environment] = await Promise.all([
        store.read.webhookEndpoints.get(environmentId, endpointId),
        store.read.events.get(environmentId, delivery.eventId),
        store.read.environments.get(environmentId),
      ]);
      if (!endpoint || !event || !environment)
        return { kind: 'failed', reason: 'The endpoint or the event was deleted.' };
      if (!endpoint.enabled) return { kind: 'failed', reason: DISABLED };
      const sent = await sendDelivery(deps, deps.egressOf(environment), endpoint, event, signal);
      if (sent.isDelivered) failing.delete(endpointId);
      else failing.add(endpointId);
      // The attempt was interrupted, because it took too long or this instance is stopping. It is repeated.
      if (signal.aborted && !sent.isDelivered) return { kind: 'retry', reason: sent.attempt.error };
      const { error: reason } = sent.attempt;
      const outcome = sent.isDelivered ? { kind: 'done' as const } : { kind: 'retry' as const, reason };
      return { ...outcome, store: (tx) => settle(deps, tx, job, delivery, sent) };
    },
    async ended(tx, { id: jobId, environmentId, subjectId }, outcome) {
      if (outcome.kind === 'done') return;
      const delivery = await tx.webhookDeliveries.get(environmentId, subjectId ?? '');
      if (delivery?.jobId !== jobId) return;
      const { attempts, lastAttempt } = delivery;
      const end = { state: 'FAILED' as const, attempts, nextAttemptAt: null, lastAttempt, at: now() };
      await tx.webhookDeliveries.record(environmentId, delivery.id, jobId, end);
      await deliveries.next(tx, delivery);
    },
  };
}

/** Stores the result of an attempt. */
async function settle(
  deps: DeliveryJobDeps,
  tx: Transaction,
  { id: jobId, environmentId }: Job,
  delivery: WebhookDeliveryRow,
  sent: SentDelivery,
): Promise<AttemptOutcome> {
  const { deliveries, now } = deps;
  const at = now();
  const attempts = delivery.attempts + 1;
  const delayMs = sent.isDelivered ? undefined : retryDelayOf(deps, attempts, sent);
  const isCurrent = await tx.webhookDeliveries.record(environmentId, delivery.id, jobId, {
    state: sent.isDelivered ? 'DELIVERED' : 'PENDING',
    attempts,
    nextAttemptAt: delayMs === undefined ? null : at + delayMs,
    lastAttempt: sent.attempt,
    at,
  });
  if (!isCurrent) return SKIPPED;
  const endpoint = await tx.webhookEndpoints.get(environmentId, delivery.endpointId);
  const isDisabled = endpoint ? await disableIfNeeded(deps, tx, endpoint, sent, at) : true;
  if (sent.isDelivered) {
    if (!endpoint || canBeAwaited(endpoint, delivery)) await deliveries.next(tx, delivery);
    return { kind: 'done' };
  }
  const reason = sent.attempt.error;
  if (isDisabled || delayMs === undefined) return { kind: 'failed', reason };
  return { kind: 'retry', reason, retryAfterMs: delayMs };
}

/**
 * Whether other deliveries can wait for this one: the endpoint is ordered, or may have been since the delivery was
 * added.
 */
function canBeAwaited({ ordered, updatedAt }: WebhookEndpointRow, { createdAt }: WebhookDeliveryRow): boolean {
  return ordered || updatedAt >= createdAt;
}

/** @returns whether the endpoint is disabled now */
async function disableIfNeeded(
  deps: DeliveryJobDeps,
  tx: Transaction,
  endpoint: WebhookEndpointRow,
  { isDelivered, isGone }: SentDelivery,
  at: number,
): Promise<boolean> {
  const { environmentId, id } = endpoint;
  if (!endpoint.enabled) return true;
  if (isDelivered) {
    if (endpoint.failingSince !== null) await tx.webhookEndpoints.update(environmentId, id, { failingSince: null });
    return false;
  }
  if (isGone) return disableFailing(deps, tx, endpoint, 'The endpoint returned 410.', at);
  const since = endpoint.failingSince ?? at;
  if (at - since >= WEBHOOKS.disableAfterMs) {
    return disableFailing(deps, tx, endpoint, 'All attempts failed for five days.', at);
  }
  if (endpoint.failingSince === null) await tx.webhookEndpoints.update(environmentId, id, { failingSince: at });
  return false;
}

/** @returns the milliseconds until the next attempt; undefined after the last one */
function retryDelayOf(
  { random }: Pick<DeliveryJobDeps, 'random'>,
  attempts: number,
  { retryAfterMs = 0 }: SentDelivery,
): number | undefined {
  const delayMs = WEBHOOKS.retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const shortened = Math.ceil(delayMs * (1 - fraction(random) / 5));
  return Math.max(shortened, Math.min(retryAfterMs, WEBHOOKS.longestDelayMs));
}
