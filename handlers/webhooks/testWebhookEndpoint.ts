import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookDelivery } from '../../core/present/webhook-delivery.ts';
import { requireEnabledEndpoint } from '../../core/webhooks/endpoints.ts';
import type { WebhookDeliveryRow } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';

export const testWebhookEndpoint: Handler<'testWebhookEndpoint', Webhooks> = (call, reply, { events }) =>
  call.commit(async (tx) => {
    const environmentId = call.environment.id;
    const endpoint = await requireEnabledEndpoint(tx, environmentId, call.path.endpoint_id);
    await events.emit(tx, call.cause, {
      type: 'webhook_endpoint.tested',
      subject: endpoint.id,
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    const { rows } = await tx.webhookDeliveries.list(environmentId, { endpointId: endpoint.id }, { size: 1 });
    return reply(200, { webhook_delivery: presentWebhookDelivery(rows[0] as WebhookDeliveryRow) });
  });
