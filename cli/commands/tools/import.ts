import { readFileSync } from 'node:fs';
import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { repeated, wholeNumber } from '../../options.ts';
import { describeImport } from '../../output/import-report.ts';
import { examples, printResult } from '../../output/print.ts';

/** `valetkey tools import`: like `valetkey import`, but run by the server. */
export function configure(command: Command): void {
  withServer(
    command
      .argument('<files...>', 'the document, and the files that it refers to')
      .requiredOption('--connector <identifier>', 'the identifier of the provider')
      .option('--overlay <file>', 'an OpenAPI overlay; can be repeated', repeated)
      .option('--base-url <address>', 'the https address of the API, if the document does not name it')
      .option('--tag <tag>', 'import only operations with this tag; can be repeated', repeated)
      .option('--limit <number>', 'import at most this many operations', wholeNumber(1, 999_999))
      .option('--dry-run', 'show what would change, and store nothing'),
  )
    .addHelpText(
      'after',
      examples(
        'tools import petstore.yaml --connector petstore --dry-run',
        'tools import api.json --connector desk --tag tickets',
      ),
    )
    .action(async (files, options) => {
      const report = await resultOf(
        openApi(options).POST('/api/v1/tools:import', {
          body: {
            connector: options.connector,
            files: files.map(readSource),
            ...(options.overlay && { overlays: options.overlay.map(readSource) }),
            ...(options.baseUrl !== undefined && { base_url: options.baseUrl }),
            ...(options.tag && { include: { tags: options.tag } }),
            ...(options.limit !== undefined && { limit: options.limit }),
            apply: !options.dryRun,
          },
        }),
      );
      printResult(options, report, () => describeImport(report));
    });
}

function readSource(name: string) {
  return { name, content: readFileSync(name, 'utf8') };
}
