import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentWebhookEndpoint } from '../../core/present/webhook-endpoint.ts';
import type { Handler } from '../../http/contract.ts';

export const listWebhookEndpoints: Handler<'listWebhookEndpoints', Webhooks> = async (call, reply, webhooks) => {
  const { store, sealedTokens, now } = webhooks;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listWebhookEndpoints', filters: {} };
  const request = readPage(sealedTokens, scope, call.query.page_token, call.query.page_size);
  const page = await store.read.webhookEndpoints.list(environmentId, request);
  return reply(200, {
    webhook_endpoints: page.rows.map(presentWebhookEndpoint),
    ...pageTokens(sealedTokens, scope, page, now()),
    total_size: page.total,
  });
};
