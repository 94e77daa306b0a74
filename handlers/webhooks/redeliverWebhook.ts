import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { ApiError } from '../../core/errors.ts';
import { presentWebhookDelivery } from '../../core/present/webhook-delivery.ts';
import type { Handler } from '../../http/contract.ts';
import { requireDelivery } from './require-delivery.ts';

export const redeliverWebhook: Handler<'redeliverWebhook', Webhooks> = (call, reply, { deliveries, events }) =>
  call.commit(async (tx) => {
    const environmentId = call.environment.id;
    const delivery = await requireDelivery(tx, environmentId, call.path.delivery_id);
    const endpoint = await tx.webhookEndpoints.get(environmentId, delivery.endpointId);
    if (!endpoint?.enabled) {
      const detail = endpoint
        ? `The webhook endpoint ${endpoint.id} is disabled. Enable it first.`
        : `The webhook endpoint ${delivery.endpointId} of the delivery was deleted.`;
      throw new ApiError('WEBHOOK_ENDPOINT_DISABLED', detail);
    }
    await events.emit(tx, call.cause, {
      type: 'webhook_endpoint.redelivered',
      subject: endpoint.id,
      details: { delivery_id: delivery.id, since: null, include_delivered: true },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, { webhook_delivery: presentWebhookDelivery(await deliveries.requeue(tx, delivery)) });
  });
