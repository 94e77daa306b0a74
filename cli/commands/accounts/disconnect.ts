import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { accountKey, withAccount } from '../../api/options.ts';
import { confirm } from '../../output/confirm.ts';
import { examples, printResult } from '../../output/print.ts';
import { describeAccount } from './describe-account.ts';

/** `valetkey accounts disconnect`: deletes the credentials of an account and revokes them at the provider. */
export function configure(command: Command): void {
  withAccount(
    command
      .argument('[account-id]', 'the id of the account; instead of it, the options below')
      .option('--yes', 'do not ask'),
  )
    .addHelpText('after', examples('accounts disconnect ca_01k6p4a2b3c4d5e6f7g8h9j0km --yes'))
    .action(async (id, options) => {
      const key = accountKey(id, options);
      await confirm(`Delete the credentials of ${Object.values(key).join(' ')}, and revoke them?`, options);
      const { connected_account: account } = await resultOf(
        openApi(options).POST('/api/v1/connected_accounts:disconnect', { body: key }),
      );
      printResult(options, account, () => describeAccount(account));
    });
}
