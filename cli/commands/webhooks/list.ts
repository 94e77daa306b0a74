import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withPages } from '../../api/options.ts';
import { readPages } from '../../api/pages.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/** `valetkey webhooks list`: the endpoints that get events. */
export function configure(command: Command): void {
  withPages(command)
    .addHelpText('after', examples('webhooks list', 'webhooks list --json'))
    .action(async (options) => {
      const api = openApi(options);
      const endpoints = await readPages(options, async (page) => {
        const body = await resultOf(api.GET('/api/v1/webhook_endpoints', { params: { query: page } }));
        return { ...body, items: body.webhook_endpoints };
      });
      printResult(options, endpoints, () =>
        table(
          {
            ENDPOINT: ({ id }) => id,
            URL: ({ url }) => url,
            EVENTS: ({ event_types }) => (event_types.length === 0 ? 'all' : event_types),
            ENABLED: ({ enabled }) => (enabled ? 'yes' : 'no'),
            'FAILING SINCE': ({ failing_since }) => failing_since,
          },
          endpoints,
        ),
      );
    });
}
