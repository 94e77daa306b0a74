import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { accountKey, withAccount } from '../../api/options.ts';
import { EXIT } from '../../exit-codes.ts';
import { examples, printResult } from '../../output/print.ts';
import { fields } from '../../output/table.ts';

/**
 * `valetkey accounts check`: asks the provider whether it accepts the credentials of an account. Exits with 1 if it
 * does not.
 */
export function configure(command: Command): void {
  withAccount(command.argument('[account-id]', 'the id of the account; instead of it, the options below'))
    .addHelpText('after', examples('accounts check ca_01k6p4a2b3c4d5e6f7g8h9j0km'))
    .action(async (id, options) => {
      const body = accountKey(id, options);
      const check = await resultOf(openApi(options).POST('/api/v1/connected_accounts:check', { body }));
      printResult(options, check, () =>
        fields({ Account: check.id, Outcome: check.outcome, Reason: check.reason, Checked: check.checked_at }),
      );
      if (check.outcome === 'EXPIRED') process.exitCode = EXIT.failed;
    });
}
