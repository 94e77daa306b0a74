import type { Command } from '@commander-js/extra-typings';
import type { components } from '../../../../generated/api.d.ts';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { examples, printResult } from '../../../output/print.ts';
import { table } from '../../../output/table.ts';

/** `valetkey tools overlays list`: the overlays, and whether they fit their tools. */
export function configure(command: Command): void {
  withServer(command)
    .addHelpText('after', examples('tools overlays list', 'tools overlays list --json'))
    .action(async (options) => {
      const api = openApi(options);
      const overlays: components['schemas']['ToolOverlay'][] = [];
      for (let token: string | undefined; token !== ''; ) {
        const query = { page_size: 100, page_token: token };
        const page = await resultOf(api.GET('/api/v1/tool_overlays', { params: { query } }));
        overlays.push(...page.overlays);
        token = page.next_page_token;
      }
      printResult(options, overlays, () =>
        table(
          {
            TOOL: ({ tool_name }) => tool_name,
            NAME: ({ new_name }) => new_name ?? '',
            HIDDEN: ({ hidden }) => (hidden ? 'yes' : ''),
            PRESET: ({ preset_inputs }) => Object.keys(preset_inputs).join(', '),
            RESTRICTED: ({ allowed_values }) => Object.keys(allowed_values).join(', '),
            STATUS: ({ status }) => status,
          },
          overlays,
        ),
      );
    });
}
