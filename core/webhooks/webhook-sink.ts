import type { Store, Transaction } from '../../db/store.ts';
import type { EmittedEvent, EventSink } from '../events/sink.ts';
import type { EventType } from '../events/types.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { isDeliveredByDefault, receivesEvent } from './event-types.ts';
import { createInterestCache, type Interest, interestOf, isUsed } from './interest-cache.ts';

export interface WebhookSinkDeps {
  store: Pick<Store, 'settingsVersion'>;
  deliveries: Pick<DeliveryQueue, 'add'>;
  /** Called after each commit that stored an event. */
  notifyStored(environmentId: string): void;
}

/** Whether an event of this type can change which events are stored or delivered. */
function isChange(type: EventType): boolean {
  return type.startsWith('webhook_endpoint.') || type === 'environment.updated';
}

/**
 * Stores events and queues their deliveries to webhook endpoints, in the transaction that causes them. For an
 * environment that has no endpoints and does not store events, no database statement is needed, except to fill the
 * cache.
 */
export function createWebhookSink({
  store: { settingsVersion },
  deliveries,
  notifyStored,
}: WebhookSinkDeps): EventSink {
  const cache = createInterestCache({ settingsVersion });

  async function interestIn(tx: Transaction, { cause, at }: EmittedEvent): Promise<Interest> {
    const { environmentId } = cause;
    const known = cache.known(environmentId, at);
    if (known) return known;
    const environment = await tx.environments.get(environmentId);
    const interest = interestOf(environment?.settings ?? {}, await tx.webhookEndpoints.enabled(environmentId));
    cache.remember(tx, environmentId, interest, at);
    return interest;
  }

  async function store(tx: Transaction, event: EmittedEvent): Promise<void> {
    const { type, subject: subjectId, cause, at: createdAt } = event;
    const { environmentId } = cause;
    const interest = await interestIn(tx, event);
    if (!isUsed(interest, type)) return;
    const endpoints = await tx.webhookEndpoints.enabled(environmentId);
    const receivers = endpoints.filter((endpoint) => receivesEvent(endpoint, event));
    if (receivers.length === 0 && !(interest.keepsEvents && isDeliveredByDefault(type))) return;
    const body = await event.body();
    const row = { id: body.id, type, subjectId, body: JSON.stringify(body), createdAt };
    const seq = await tx.events.append(environmentId, row);
    for (const endpoint of receivers) await deliveries.add(tx, endpoint, { ...row, seq, environmentId });
    tx.afterCommit(() => notifyStored(environmentId));
  }

  return {
    accepts: () => true,
    handle(tx, event) {
      const { type, cause, at } = event;
      if (isChange(type)) cache.forget(tx, cause.environmentId);
      const known = cache.known(cause.environmentId, at);
      return known && !isUsed(known, type) ? undefined : store(tx, event);
    },
  };
}
