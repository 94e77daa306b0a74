import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { accountKey, withAccount } from '../../api/options.ts';
import { examples, note, printResult } from '../../output/print.ts';

/** `valetkey accounts link`: a link with which a user connects an account, or authorizes it again. */
export function configure(command: Command): void {
  withAccount(
    command
      .argument('[account-id]', 'an existing account to authorize again; if omitted, the options below name a new one')
      .option('--user-verify-url <address>', 'where the user returns to; by default the only one of the environment')
      .option('--state <text>', 'a value that your application gets back with the user')
      .option('--language <tag>', 'the language of the pages, such as de or pt-BR'),
  )
    .addHelpText(
      'after',
      examples(
        'accounts link --connector github --identifier ada@acme.test --user u-1',
        'accounts link ca_01k6p4a2b3c4d5e6f7g8h9j0km --language de',
      ),
    )
    .action(async (id, options) => {
      const { userVerifyUrl, state, language } = options;
      const body = { ...accountKey(id, options), user_verify_url: userVerifyUrl, state, language };
      const link = await resultOf(openApi(options).POST('/api/v1/connected_accounts/magic_link', { body }));
      printResult(options, link, () => link.link);
      if (!options.json) note`It works until ${link.expiry}, and only for this user.`;
    });
}
