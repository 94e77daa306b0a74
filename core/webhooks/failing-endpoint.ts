import type { Transaction, WebhookEndpointRow } from '../../db/store.ts';
import type { Events } from '../events/events.ts';

/**
 * Disables an endpoint whose deliveries fail.
 *
 * @param reason a sentence for users
 * @param at milliseconds UTC
 * @returns true: the endpoint is disabled now
 */
export async function disableFailing(
  { events }: { events: Events },
  tx: Transaction,
  endpoint: WebhookEndpointRow,
  reason: string,
  at: number,
): Promise<true> {
  const { environmentId, id } = endpoint;
  const change = { enabled: false, disabledReason: reason, updatedAt: at };
  await tx.webhookEndpoints.update(environmentId, id, change);
  await events.emit(
    tx,
    { environmentId, actor: 'system', requestId: '' },
    {
      type: 'webhook_endpoint.disabled',
      subject: id,
      details: { reason },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint({ ...endpoint, ...change }) }),
    },
  );
  return true;
}
