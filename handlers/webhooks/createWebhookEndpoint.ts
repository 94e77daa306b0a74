import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { createEndpoint } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const createWebhookEndpoint: Handler<'createWebhookEndpoint', Webhooks> = (call, reply, webhooks) =>
  call.commit(async (tx) => {
    const { endpoint, secret } = await createEndpoint(tx, webhooks, call.environment, call.body);
    await webhooks.events.emit(tx, call.cause, {
      type: 'webhook_endpoint.created',
      subject: endpoint.id,
      auditOnly: { url: endpoint.url },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(201, { webhook_endpoint: presentWebhookEndpoint(endpoint), secret: secret.reveal() });
  });
