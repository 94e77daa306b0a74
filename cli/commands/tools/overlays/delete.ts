import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { examples, printResult, shown } from '../../../output/print.ts';

/** `valetkey tools overlays delete`: removes an overlay, so that the tool is shown and run as it is defined. */
export function configure(command: Command): void {
  withServer(command.argument('<tool>', "the tool's own name"))
    .addHelpText('after', examples('tools overlays delete github_create_issue'))
    .action(async (tool_name, options) => {
      const path = { tool_name };
      await resultOf(openApi(options).DELETE('/api/v1/tool_overlays/{tool_name}', { params: { path } }));
      printResult(options, { deleted: tool_name }, () => shown`Deleted the overlay of ${tool_name}.`);
    });
}
