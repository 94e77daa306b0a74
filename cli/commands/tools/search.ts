import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withAccount } from '../../api/options.ts';
import { wholeNumber } from '../../options.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/**
 * `valetkey tools search`: runs the search that agents use. For a user, it also shows which of the tools are ready to
 * run.
 */
export function configure(command: Command): void {
  withAccount(
    command
      .argument('<words...>', 'what the tool should do')
      .option('--limit <number>', 'show at most this many', wholeNumber(1, 50), 10),
  )
    .addHelpText(
      'after',
      examples('tools search create an issue', 'tools search send mail --user u-1 --identifier ada@acme.test'),
    )
    .action(async (words, options) => {
      const { limit, connector, identifier, organization, user } = options;
      const query = {
        query: words.join(' '),
        limit,
        connector,
        identifier,
        organization_id: organization,
        user_id: user,
        detail: 'compact' as const,
      };
      const { hits } = await resultOf(openApi(options).GET('/api/v1/tools:search', { params: { query } }));
      printResult(options, hits, () =>
        table(
          {
            TOOL: ({ tool }) => ('name' in tool ? tool.name : ''),
            TITLE: ({ tool }) => ('title' in tool ? tool.title : ''),
            CONNECTOR: ({ connector }) => connector,
            READINESS: ({ readiness }) => readiness,
          },
          hits,
        ),
      );
    });
}
