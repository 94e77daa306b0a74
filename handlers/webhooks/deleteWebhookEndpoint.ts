import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { requireEndpoint } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteWebhookEndpoint: Handler<'deleteWebhookEndpoint', Webhooks> = (call, reply, { events }) =>
  call.commit(async (tx) => {
    const endpoint = await requireEndpoint(tx, call.environment.id, call.path.endpoint_id);
    await tx.webhookEndpoints.delete(call.environment.id, endpoint.id);
    await events.emit(tx, call.cause, {
      type: 'webhook_endpoint.deleted',
      subject: endpoint.id,
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, {});
  });
