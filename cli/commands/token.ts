import type { Command } from '@commander-js/extra-typings';
import { requestToken } from '../api/client.ts';
import { withServer } from '../api/options.ts';
import { readApiSettings } from '../api/settings.ts';
import { examples, note, printResult } from '../output/print.ts';
import { UsageError } from '../usage-error.ts';

/** `valetkey token`: prints an access token, for other programs. */
export function configure(command: Command): void {
  withServer(command.option('--scope <scopes>', 'scopes, separated by spaces; by default all of the client'))
    .addHelpText('after', examples('token', "token --scope 'accounts:read tools:execute'", 'token --json'))
    .action(async (options) => {
      const { origin, credential } = readApiSettings({ ...process.env, VALETKEY_TOKEN: '' }, options.server);
      if ('token' in credential) throw new UsageError('set VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET');
      const token = await requestToken(origin, credential, options.scope);
      printResult(options, token, () => token.access_token);
      if (process.stdout.isTTY && !options.json) note`It is valid for ${token.expires_in} seconds, with ${token.scope}`;
    });
}
