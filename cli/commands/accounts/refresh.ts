import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { accountKey, withAccount } from '../../api/options.ts';
import { EXIT } from '../../exit-codes.ts';
import { examples, printResult } from '../../output/print.ts';
import { fields } from '../../output/table.ts';

/** `valetkey accounts refresh`: gets a new token now. Exits with 1 if the user must authorize the account again. */
export function configure(command: Command): void {
  withAccount(command.argument('[account-id]', 'the id of the account; instead of it, the options below'))
    .addHelpText('after', examples('accounts refresh ca_01k6p4a2b3c4d5e6f7g8h9j0km'))
    .action(async (id, options) => {
      const body = accountKey(id, options);
      const result = await resultOf(openApi(options).POST('/api/v1/connected_accounts:refresh', { body }));
      printResult(options, result, () =>
        fields({
          Account: result.id,
          Outcome: result.outcome,
          Reason: result.reason,
          'Token expires': result.token_expires_at,
        }),
      );
      if (result.outcome === 'EXPIRED') process.exitCode = EXIT.failed;
    });
}
