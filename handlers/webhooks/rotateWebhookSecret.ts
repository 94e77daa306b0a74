import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { requireEndpoint, rotateSecret } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const rotateWebhookSecret: Handler<'rotateWebhookSecret', Webhooks> = (call, reply, webhooks) =>
  call.commit(async (tx) => {
    const before = await requireEndpoint(tx, call.environment.id, call.path.endpoint_id);
    const { endpoint, secret } = await rotateSecret(tx, webhooks, before, call.body.overlap_seconds);
    await webhooks.events.emit(tx, call.cause, {
      type: 'webhook_endpoint.secret_rotated',
      subject: endpoint.id,
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, { webhook_endpoint: presentWebhookEndpoint(endpoint), secret: secret.reveal() });
  });
