import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { EXIT } from '../../exit-codes.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { connectionId } from './find-connection.ts';

/**
 * `valetkey connections doctor`: like `valetkey doctor`, but run by the server. Exits with 1 if a check finds a
 * difference.
 */
export function configure(command: Command): void {
  withServer(command.argument('<connection>', 'the id or the name of the connection'))
    .addHelpText('after', examples('connections doctor github', 'connections doctor github --json'))
    .action(async (name, options) => {
      const api = openApi(options);
      const connection_id = (await connectionId(api, name)) ?? name;
      const { checks } = await resultOf(
        api.GET('/api/v1/connections/{connection_id}:check', { params: { path: { connection_id } } }),
      );
      printResult(options, checks, () =>
        table(
          {
            VERDICT: ({ verdict }) => verdict,
            CHECK: ({ subject }) => subject,
            EXPECTED: ({ expected }) => expected,
            FOUND: ({ found }) => found,
          },
          checks,
        ),
      );
      if (checks.some(({ verdict }) => verdict === 'DIFFERS')) process.exitCode = EXIT.failed;
    });
}
