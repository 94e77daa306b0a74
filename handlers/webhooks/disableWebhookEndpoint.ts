import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { requireEndpoint, setEnabled } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const disableWebhookEndpoint: Handler<'disableWebhookEndpoint', Webhooks> = (call, reply, webhooks) =>
  call.commit(async (tx) => {
    const before = await requireEndpoint(tx, call.environment.id, call.path.endpoint_id);
    if (before.enabled === false) return reply(200, { webhook_endpoint: presentWebhookEndpoint(before) });
    const endpoint = await setEnabled(tx, webhooks, before, false);
    await webhooks.events.emit(tx, call.cause, {
      type: 'webhook_endpoint.updated',
      subject: endpoint.id,
      details: { fields: ['enabled'] },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, { webhook_endpoint: presentWebhookEndpoint(endpoint) });
  });
