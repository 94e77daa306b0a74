import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { toJson } from '../../output/json.ts';
import { examples, printResult } from '../../output/print.ts';
import { fields } from '../../output/table.ts';

/** `valetkey executions show`: a tool call, with its masked request and response where they are kept. */
export function configure(command: Command): void {
  withServer(command.argument('<execution-id>', 'the id of the execution'))
    .addHelpText('after', examples('executions show exec_01k6p4a2b3c4d5e6f7g8h9j0km'))
    .action(async (execution_id, options) => {
      const body = await resultOf(
        openApi(options).GET('/api/v1/executions/{execution_id}', { params: { path: { execution_id } } }),
      );
      const { execution, contents } = body;
      printResult(options, body, () => {
        const text = fields({
          Execution: execution.id,
          Tool: execution.tool_name,
          Status: execution.status,
          Error: execution.error_kind,
          'Upstream status': execution.upstream_status,
          Account: execution.connected_account_id,
          Connector: execution.connector,
          'API client': execution.api_client_id,
          'Agent run': execution.agent_run_id,
          Started: execution.started_at,
          Finished: execution.finished_at,
          Milliseconds: execution.duration_ms,
        });
        return contents === null ? text : `${text}\n\n${toJson(contents)}`;
      });
    });
}
