import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { toJson } from '../../../output/json.ts';
import { examples, printResult } from '../../../output/print.ts';

/** `valetkey tools overlays show`: the overlay of a tool. */
export function configure(command: Command): void {
  withServer(command.argument('<tool>', "the tool's own name"))
    .addHelpText('after', examples('tools overlays show github_create_issue'))
    .action(async (tool_name, options) => {
      const { overlay } = await resultOf(
        openApi(options).GET('/api/v1/tool_overlays/{tool_name}', { params: { path: { tool_name } } }),
      );
      printResult(options, overlay, () => toJson(overlay));
    });
}
