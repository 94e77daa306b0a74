import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { examples, printResult } from '../../../output/print.ts';
import { describeProvider } from './describe-provider.ts';

/** `valetkey mcp login-provider show` */
export function configure(command: Command): void {
  withServer(command)
    .addHelpText('after', examples('mcp login-provider show', 'mcp login-provider show --json'))
    .action(async (options) => {
      const { login_provider } = await resultOf(openApi(options).GET('/api/v1/mcp/login_provider'));
      printResult(options, login_provider, () => describeProvider(login_provider));
    });
}
