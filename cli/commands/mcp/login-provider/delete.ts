import type { Command } from '@commander-js/extra-typings';
import { openApi, requireOk } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { confirm } from '../../../output/confirm.ts';
import { examples, printResult } from '../../../output/print.ts';

/** `valetkey mcp login-provider delete` */
export function configure(command: Command): void {
  withServer(command.option('--yes', 'do not ask'))
    .addHelpText('after', examples('mcp login-provider delete --yes'))
    .action(async (options) => {
      await confirm('Delete the login provider? Users of MCP clients cannot log in with it any more.', options);
      await requireOk(openApi(options).DELETE('/api/v1/mcp/login_provider'));
      printResult(options, { deleted: true }, () => 'The login provider was deleted.');
    });
}
