import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { presentWebhookDelivery } from '../../core/present/webhook-delivery.ts';
import type { Handler } from '../../http/contract.ts';
import { requireDelivery } from './require-delivery.ts';

export const getWebhookDelivery: Handler<'getWebhookDelivery', Webhooks> = async (call, reply, { store }) => {
  const delivery = await requireDelivery(store.read, call.environment.id, call.path.delivery_id);
  return reply(200, { webhook_delivery: presentWebhookDelivery(delivery) });
};
