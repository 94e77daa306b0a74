import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { ORGANIZATION, withPages } from '../../api/options.ts';
import { readPages } from '../../api/pages.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/** `valetkey connections list` */
export function configure(command: Command): void {
  withPages(command.addOption(ORGANIZATION))
    .addHelpText('after', examples('connections list', 'connections list --all --json'))
    .action(async (options) => {
      const api = openApi(options);
      const connections = await readPages(options, async (page) => {
        const query = { organization_id: options.organization, ...page };
        const body = await resultOf(api.GET('/api/v1/connections', { params: { query } }));
        return { ...body, items: body.connections };
      });
      printResult(options, connections, () =>
        table(
          {
            CONNECTION: ({ id }) => id,
            NAME: ({ key_id }) => key_id,
            PROVIDER: ({ provider_key }) => provider_key,
            TYPE: ({ type }) => type,
            STATUS: ({ status }) => status,
            ENABLED: ({ enabled }) => (enabled ? 'yes' : 'no'),
            ORGANIZATION: ({ organization_id }) => organization_id,
          },
          connections,
        ),
      );
    });
}
