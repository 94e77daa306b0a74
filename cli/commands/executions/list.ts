import { type Command, Option } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withPages } from '../../api/options.ts';
import { readPages } from '../../api/pages.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { COLUMNS, STATUSES } from './columns.ts';

/** `valetkey executions list`: tool calls, newest first. */
export function configure(command: Command): void {
  withPages(
    command
      .option('--account <id>', 'calls with this account')
      .option('--tool <name>', 'calls of this tool')
      .option('--connector <name>', 'calls of the tools of this connector')
      .option('--agent-run <id>', 'calls of this run of an agent')
      .addOption(new Option('--status <status>', 'calls in this state').choices(STATUSES))
      .option('--from <time>', 'calls that started at this time (RFC 3339) or later')
      .option('--before <time>', 'calls that started before this time'),
  )
    .addHelpText(
      'after',
      examples(
        'executions list --status FAILED',
        'executions list --tool github_create_issue --from 2026-11-01T00:00:00Z --all',
      ),
    )
    .action(async (options) => {
      const api = openApi(options);
      const { account, tool, connector, agentRun, status, from, before } = options;
      const filters = {
        connected_account_id: account,
        tool_name: tool,
        connector,
        agent_run_id: agentRun,
        status,
        started_from: from,
        started_before: before,
      };
      const executions = await readPages(options, async (page) => {
        const body = await resultOf(api.GET('/api/v1/executions', { params: { query: { ...filters, ...page } } }));
        return { ...body, items: body.executions };
      });
      printResult(options, executions, () => table(COLUMNS, executions));
    });
}
