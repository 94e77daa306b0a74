import { readFileSync } from 'node:fs';
import type { Command } from '@commander-js/extra-typings';
import type { components } from '../../../../generated/api.d.ts';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { toJson } from '../../../output/json.ts';
import { examples, printResult } from '../../../output/print.ts';
import { UsageError } from '../../../usage-error.ts';

type Overlay = components['schemas']['SetToolOverlayRequest'];

/** `valetkey tools overlays set`: hides, renames or restricts a tool in the environment. */
export function configure(command: Command): void {
  withServer(
    command
      .argument('<tool>', "the tool's own name")
      .option('--hide', 'remove the tool from lists, and do not run it')
      .option('--name <name>', 'the name of the tool in the environment')
      .option('--title <title>', 'the title of the tool')
      .option('--words <text>', 'a text that is appended to the description')
      .option('--preset <json>', 'the values of inputs that callers cannot set; @file reads a file')
      .option('--allow <json>', 'lists of the only values that inputs accept; @file reads a file'),
  )
    .addHelpText(
      'after',
      examples(
        'tools overlays set github_delete_repository --hide',
        `tools overlays set github_create_issue --preset '{"owner":"acme","repo":"shop"}' --allow '{"labels":["bug"]}'`,
      ),
    )
    .action(async (tool_name, { hide, name, title, words, preset, allow, ...options }) => {
      const body: Overlay = {
        ...(hide && { hidden: true }),
        ...(name !== undefined && { new_name: name }),
        ...(title !== undefined && { title }),
        ...(words !== undefined && { added_description: words }),
        ...(preset !== undefined && { preset_inputs: readObject(preset, '--preset') }),
        ...(allow !== undefined && { allowed_values: readObject(allow, '--allow') as Record<string, unknown[]> }),
      };
      if (Object.keys(body).length === 0) throw new UsageError('name at least one change, for example --hide');
      const { overlay } = await resultOf(
        openApi(options).PUT('/api/v1/tool_overlays/{tool_name}', { params: { path: { tool_name } }, body }),
      );
      printResult(options, overlay, () => toJson(overlay));
    });
}

function readObject(given: string, option: string): Record<string, unknown> {
  const text = given[0] === '@' ? readFileSync(given.slice(1), 'utf8') : given;
  try {
    const object: unknown = JSON.parse(text);
    if (typeof object === 'object' && object !== null && !Array.isArray(object))
      return object as Record<string, unknown>;
  } catch {
    // The error is not shown, because the message of JSON.parse repeats a part of the value.
  }
  throw new UsageError(`${option} must be a JSON object`);
}
