import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { requireEndpoint, updateEndpoint } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const updateWebhookEndpoint: Handler<'updateWebhookEndpoint', Webhooks> = (call, reply, webhooks) =>
  call.commit(async (tx) => {
    const before = await requireEndpoint(tx, call.environment.id, call.path.endpoint_id);
    const endpoint = await updateEndpoint(tx, webhooks, call.environment, before, call.body);
    await webhooks.events.emit(tx, call.cause, {
      type: 'webhook_endpoint.updated',
      subject: endpoint.id,
      details: { fields: Object.keys(call.body) },
      auditOnly: { url: endpoint.url },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, { webhook_endpoint: presentWebhookEndpoint(endpoint) });
  });
