import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withAccount } from '../../api/options.ts';
import { toJson } from '../../output/json.ts';
import { examples, note, printResult } from '../../output/print.ts';
import { UsageError } from '../../usage-error.ts';

/** `valetkey tools run`: runs a tool with an account, or shows the request that it would send. */
export function configure(command: Command): void {
  withAccount(
    command
      .argument('<tool>', 'the name of the tool')
      .option('--input <json>', 'the input; @file reads a file, and - reads standard input', '{}')
      .option('--account <id>', 'the account; instead of it, the options below')
      .option('--dry-run', 'show the request without its credentials, and send nothing')
      .option('--all-pages', 'follow the pages of the result'),
  )
    .addHelpText(
      'after',
      examples(
        `tools run github_list_issues --account ca_… --input '{"owner":"acme","repo":"site"}'`,
        'tools run github_create_issue --connector github --identifier ada@acme.test --user u-1 --input @issue.json --dry-run',
      ),
    )
    .action(async (tool_name, options) => {
      const { account, connector, identifier, organization, user } = options;
      const result = await resultOf(
        openApi(options).POST('/api/v1/execute_tool', {
          body: {
            tool_name,
            tool_input: await readInput(options.input),
            connected_account_id: account,
            connector,
            identifier,
            organization_id: organization,
            user_id: user,
            ...(options.dryRun && { dry_run: true }),
            ...(options.allPages && { all_pages: true }),
          },
        }),
      );
      printResult(options, result, () => toJson(options.dryRun ? result.dry_run_request : result.data));
      if (options.json) return;
      if (result.truncated) note`${result.truncation?.statement}`;
      if (result.next_cursor) note`There are more pages; --all-pages follows them.`;
      if (!options.dryRun) note`Execution ${result.execution_id}`;
    });
}

async function readInput(given: string): Promise<Record<string, unknown>> {
  const text =
    given === '-' ? await readAll(process.stdin) : given[0] === '@' ? readFileSync(given.slice(1), 'utf8') : given;
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  } catch {
    // The error is not shown, because the message of JSON.parse repeats a part of the input.
  }
  throw new UsageError('--input must be a JSON object');
}
