import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import type { Handler } from '../../http/contract.ts';
import { changeEnabled } from './change-enabled.ts';

export const enableWebhookEndpoint: Handler<'enableWebhookEndpoint', Webhooks> = (call, reply, webhooks) =>
  call.commit(async (tx) => reply(200, { webhook_endpoint: await changeEnabled(tx, webhooks, call, true) }));
