import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { toJson } from '../../output/json.ts';
import { examples, say } from '../../output/print.ts';
import { type Execution, STATUSES } from './columns.ts';

/** The interval between two requests for new calls, in milliseconds. */
const POLL_MS = 1_000;
const PAGE_SIZE = 100;
/** The maximum number of calls that are remembered, so that each is shown once. */
const REMEMBERED = 1_000;

/** `valetkey executions tail`: shows tool calls as they end, until it is interrupted. */
export function configure(command: Command): void {
  withServer(
    command
      .option('--tool <name>', 'calls of this tool')
      .option('--connector <name>', 'calls of the tools of this connector')
      .addOption(new Option('--status <status>', 'calls in this state').choices(STATUSES)),
  )
    .addHelpText('after', examples('executions tail', 'executions tail --status FAILED --json'))
    .action(async (options) => {
      const api = openApi(options);
      const { tool, connector, status } = options;
      const query = { tool_name: tool, connector, status, page_size: PAGE_SIZE };
      const read = async () => (await resultOf(api.GET('/api/v1/executions', { params: { query } }))).executions;
      const signal = untilInterrupted();
      let known = new Set((await read()).map(keyOf));
      while (!signal.aborted) {
        const executions = await read();
        const fresh = executions.filter((each) => !known.has(keyOf(each)) && each.status !== 'STARTED');
        for (const execution of fresh.reverse()) show(execution, options);
        known = new Set([...known, ...executions.map(keyOf)].slice(-REMEMBERED));
        // Aborting the wait ends the loop.
        await setTimeout(POLL_MS, undefined, { signal }).catch(() => {});
      }
    });
}

/** Identifies a call and its status, so that a call that was first read as STARTED is shown when it has ended. */
function keyOf({ id, status }: Execution): string {
  return `${id} ${status}`;
}

function show(execution: Execution, { json }: { json?: true | undefined }): void {
  if (json) process.stdout.write(`${toJson(execution, 0)}\n`);
  else {
    const { started_at, id, tool_name, status, error_kind, duration_ms } = execution;
    say`${started_at}  ${id}  ${tool_name}  ${status}  ${error_kind ?? '-'}  ${duration_ms ?? '-'} ms`;
  }
}
