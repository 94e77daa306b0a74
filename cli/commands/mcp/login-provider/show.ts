import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../../api/client.ts';
import { JSON_OUTPUT, SERVER } from '../../../api/options.ts';
import { examples, printResult } from '../../../output/print.ts';
import { describeProvider } from './describe-provider.ts';

/** `valetkey mcp login-provider show` */
export function configure(command: Command): void {
  command
    .addOption(SERVER)
    .addOption(JSON_OUTPUT)
    .addHelpText('after', examples('mcp login-provider show', 'mcp login-provider show --json'))
    .action(async (options) => {
      const { login_provider } = await resultOf(openApi(options).GET('/api/v1/mcp/login_provider'));
      printResult(options, login_provider, () => describeProvider(login_provider));
    });
}
