import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentWebhookDelivery } from '../../core/present/webhook-delivery.ts';
import type { Handler } from '../../http/contract.ts';

export const listWebhookDeliveries: Handler<'listWebhookDeliveries', Webhooks> = async (call, reply, webhooks) => {
  const { store, sealedTokens, now } = webhooks;
  const { page_size: size, page_token: token, ...filters } = call.query;
  const { endpoint_id: endpointId, event_id: eventId, event_type: eventType, state } = filters;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listWebhookDeliveries', filters };
  const page = await store.read.webhookDeliveries.list(
    environmentId,
    { endpointId, eventId, eventType, state },
    readPage(sealedTokens, scope, token, size),
  );
  return reply(200, {
    webhook_deliveries: page.rows.map(presentWebhookDelivery),
    ...pageTokens(sealedTokens, scope, page, now()),
    ...totalSize(page),
  });
};
