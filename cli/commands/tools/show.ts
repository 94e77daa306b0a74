import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { toJson } from '../../output/json.ts';
import { examples, printResult } from '../../output/print.ts';
import { fields } from '../../output/table.ts';

/** `valetkey tools show`: a tool with its input schema. */
export function configure(command: Command): void {
  withServer(command.argument('<tool>', 'the name of the tool'))
    .addHelpText('after', examples('tools show github_create_issue', 'tools show github_create_issue --json'))
    .action(async (tool_name, options) => {
      const { tool } = await resultOf(
        openApi(options).GET('/api/v1/tools/{tool_name}', { params: { path: { tool_name } } }),
      );
      printResult(options, tool, () => {
        if (!('hints' in tool)) return toJson(tool);
        const hints = Object.entries(tool.hints).filter(([, value]) => value === true);
        const text = fields({
          Tool: tool.name,
          Title: tool.title,
          Connector: tool.connector,
          Description: tool.description,
          Tags: tool.tags,
          Hints: hints.map(([name]) => name),
          Scopes: tool.scopes.map((scopes) => scopes.join(' or ')),
        });
        return 'input_schema' in tool ? `${text}\n\nInput:\n${toJson(tool.input_schema)}` : text;
      });
    });
}
