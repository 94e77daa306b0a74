import { type Command, Option } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { CONNECTOR, IDENTIFIER, ORGANIZATION, USER, withPages } from '../../api/options.ts';
import { readPages } from '../../api/pages.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { UsageError } from '../../usage-error.ts';

const STATUSES = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const;

/** `valetkey accounts list` */
export function configure(command: Command): void {
  withPages(
    command
      .option('--search <text>', 'accounts whose identifier or owner contains the text, without the filters below')
      .addOption(new Option('--status <status>', 'accounts in this state').choices(STATUSES))
      .addOption(CONNECTOR)
      .addOption(IDENTIFIER)
      .addOption(ORGANIZATION)
      .addOption(USER),
  )
    .addHelpText(
      'after',
      examples('accounts list', 'accounts list --status EXPIRED --all', 'accounts list --search ada --json'),
    )
    .action(async (options) => {
      const { search, status, connector, identifier, organization, user } = options;
      if (search !== undefined && (status ?? connector ?? identifier ?? organization ?? user) !== undefined)
        throw new UsageError(
          '--search cannot be combined with --status, --connector, --identifier, --organization or --user',
        );
      const api = openApi(options);
      const filters = { status, connector, identifier, organization_id: organization, user_id: user };
      const accounts = await readPages(options, async (page) => {
        const call =
          search === undefined
            ? api.GET('/api/v1/connected_accounts', { params: { query: { ...filters, ...page } } })
            : api.GET('/api/v1/connected_accounts:search', { params: { query: { query: search, ...page } } });
        const body = await resultOf(call);
        return { ...body, items: body.connected_accounts };
      });
      printResult(options, accounts, () =>
        table(
          {
            ACCOUNT: ({ id }) => id,
            CONNECTOR: ({ connector }) => connector,
            IDENTIFIER: ({ identifier }) => identifier,
            OWNER: ({ user_id, organization_id }) => [user_id, organization_id].filter(Boolean),
            STATUS: ({ status }) => status,
            'LAST USED': ({ last_used_at }) => last_used_at,
          },
          accounts,
        ),
      );
    });
}
