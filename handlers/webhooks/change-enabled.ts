import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import type { Cause } from '../../core/events/events.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { requireEndpoint, setEnabled } from '../../core/webhooks/endpoints.ts';
import type { Transaction } from '../../db/store.ts';

/**
 * Enables or disables a webhook endpoint. If nothing changes, no event is emitted.
 *
 * @returns the endpoint as the API shows it
 * @throws ApiError NOT_FOUND
 */
export async function changeEnabled(
  tx: Transaction,
  webhooks: Webhooks,
  { cause, path }: { cause: Cause; path: { endpoint_id: string } },
  enabled: boolean,
) {
  const before = await requireEndpoint(tx, cause.environmentId, path.endpoint_id);
  if (before.enabled === enabled) return presentWebhookEndpoint(before);
  const endpoint = await setEnabled(tx, webhooks, before, enabled);
  await webhooks.events.emit(tx, cause, {
    type: 'webhook_endpoint.updated',
    subject: endpoint.id,
    details: { fields: ['enabled'] },
    data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
  });
  return presentWebhookEndpoint(endpoint);
}
