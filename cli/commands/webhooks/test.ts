import { setTimeout } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import type { components } from '../../../generated/api.d.ts';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { EXIT } from '../../exit-codes.ts';
import { examples, printResult } from '../../output/print.ts';
import { fields } from '../../output/table.ts';

/**
 * The maximum number of requests for the result. With the pauses before them, they take 20 seconds, the maximum time of
 * one attempt of a delivery.
 */
const POLLS = 40;
const POLL_MS = 500;

/**
 * `valetkey webhooks test`: sends a test event and waits for its first attempt. Exits with 1 if the event was not
 * delivered by then.
 */
export function configure(command: Command): void {
  withServer(command.argument('<endpoint-id>', 'an endpoint of `valetkey webhooks list`'))
    .addHelpText('after', examples('webhooks test whk_01k6p4a2b3c4d5e6f7g8h9j0km'))
    .action(async (endpoint_id, options) => {
      const api = openApi(options);
      const sent = await resultOf(
        api.POST('/api/v1/webhook_endpoints/{endpoint_id}:test', { params: { path: { endpoint_id } } }),
      );
      let delivery = sent.webhook_delivery;
      const path = { delivery_id: delivery.id };
      for (let poll = 0; poll < POLLS && delivery.attempts === 0; poll++) {
        await setTimeout(POLL_MS);
        const read = await resultOf(api.GET('/api/v1/webhook_deliveries/{delivery_id}', { params: { path } }));
        delivery = read.webhook_delivery;
      }
      printResult(options, delivery, () =>
        fields({
          Delivery: delivery.id,
          Event: delivery.event_id,
          State: delivery.state,
          Attempts: delivery.attempts,
          ...describeAttempt(delivery.last_attempt),
        }),
      );
      if (delivery.state !== 'DELIVERED') process.exitCode = EXIT.failed;
    });
}

type Attempt = components['schemas']['WebhookAttempt'] | null;

function describeAttempt(attempt: Attempt): Record<string, unknown> {
  if (attempt === null) return {};
  return { Response: attempt.response?.status, Error: attempt.error, Milliseconds: attempt.duration_ms };
}
