import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { timeOf } from '../../core/text/rfc3339.ts';
import { requireEnabledEndpoint } from '../../core/webhooks/endpoints.ts';
import { requestRedelivery } from '../../core/webhooks/redelivery-job.ts';
import type { Handler } from '../../http/contract.ts';

export const redeliverWebhooks: Handler<'redeliverWebhooks', Webhooks> = (call, reply, { jobQueue, events }) =>
  call.commit(async (tx) => {
    const endpoint = await requireEnabledEndpoint(tx, call.environment.id, call.path.endpoint_id);
    const { since, include_delivered: includeDelivered = false } = call.body;
    await requestRedelivery(jobQueue, tx, endpoint, { since: timeOf(since), includeDelivered });
    await events.emit(tx, call.cause, {
      type: 'webhook_endpoint.redelivered',
      subject: endpoint.id,
      details: { delivery_id: null, since, include_delivered: includeDelivered },
      data: (show) => ({ webhook_endpoint: show.webhookEndpoint(endpoint) }),
    });
    return reply(200, {});
  });
