import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { accountKey, withAccount } from '../../api/options.ts';
import { examples, printResult } from '../../output/print.ts';
import { describeAccount } from './describe-account.ts';

/** `valetkey accounts show`: an account without its credentials. */
export function configure(command: Command): void {
  withAccount(command.argument('[account-id]', 'the id of the account; instead of it, the options below'))
    .addHelpText(
      'after',
      examples(
        'accounts show ca_01k6p4a2b3c4d5e6f7g8h9j0km',
        'accounts show --connector github --identifier ada@acme.test --user u-1',
      ),
    )
    .action(async (id, options) => {
      const query = accountKey(id, options);
      const { connected_account: account } = await resultOf(
        openApi(options).GET('/api/v1/connected_accounts/details', { params: { query } }),
      );
      printResult(options, account, () => describeAccount(account));
    });
}
