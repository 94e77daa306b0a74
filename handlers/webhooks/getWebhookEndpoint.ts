import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import { requireEndpoint } from '../../core/webhooks/endpoints.ts';
import type { Handler } from '../../http/contract.ts';

export const getWebhookEndpoint: Handler<'getWebhookEndpoint', Webhooks> = async (call, reply, { store }) => {
  const endpoint = await requireEndpoint(store.read, call.environment.id, call.path.endpoint_id);
  return reply(200, { webhook_endpoint: presentWebhookEndpoint(endpoint) });
};
