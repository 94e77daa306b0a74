import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from '@commander-js/extra-typings';
import { type Api, openApi, resultOf } from '../../api/client.ts';
import { ApiFailure, UnreachableError } from '../../api/failures.ts';
import { withServer } from '../../api/options.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { toJson } from '../../output/json.ts';
import { examples, note, say } from '../../output/print.ts';
import { type Execution, STATUSES } from './columns.ts';

/** The interval between two requests for new calls, in milliseconds. */
const POLL_MS = 1_000;
const PAGE_SIZE = 100;
/** The maximum number of pages that one poll reads. */
const PAGES = 10;
/** The maximum number of calls that are remembered, so that each is shown once. */
const REMEMBERED = 2 * PAGES * PAGE_SIZE;
/** The maximum number of running calls that one poll reads one by one, because newer calls fill the pages. */
const RUNNING = 20;

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
      const { tool, connector, status } = options;
      const calls = endingCalls(openApi(options), { tool_name: tool, connector, status });
      const signal = untilInterrupted();
      // What has ended before the command started is not shown.
      await calls.read();
      while (!signal.aborted) {
        try {
          for (const execution of await calls.read()) show(execution, options);
        } catch (error) {
          if (!mayPass(error)) throw error;
          note`No response (${(error as Error).message}). Trying again.`;
        }
        // Aborting the wait ends the loop.
        await setTimeout(POLL_MS, undefined, { signal }).catch(() => {});
      }
    });
}

interface Filters {
  tool_name?: string | undefined;
  connector?: string | undefined;
  status?: Execution['status'] | undefined;
}

/** Reads the calls that have ended since the last read, the oldest first. */
function endingCalls(api: Api, filters: Filters): { read(): Promise<Execution[]> } {
  /** The status of each call at the last read, the newest call last. */
  const known = new Map<string, Execution['status']>();

  async function newest(): Promise<Execution[]> {
    const executions: Execution[] = [];
    let token: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      const query = { ...filters, page_size: PAGE_SIZE, page_token: token };
      const result = await resultOf(api.GET('/api/v1/executions', { params: { query } }));
      executions.push(...result.executions);
      token = result.next_page_token ?? undefined;
      if (!token || known.size === 0 || result.executions.some(({ id }) => known.has(id))) break;
    }
    return executions;
  }

  /** The calls that were running at the last read, and that no page contains any more. */
  async function running(listed: readonly Execution[]): Promise<Execution[]> {
    const ids = new Set(listed.map(({ id }) => id));
    const missing = [...known].filter(([id, status]) => status === 'STARTED' && !ids.has(id)).slice(-RUNNING);
    return (await Promise.all(missing.map(([id]) => one(id)))).flat();
  }

  /** Returns a call; nothing if its record was deleted, for example together with its account. */
  async function one(id: string): Promise<Execution[]> {
    try {
      const params = { path: { execution_id: id } };
      return [(await resultOf(api.GET('/api/v1/executions/{execution_id}', { params }))).execution];
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 404)) throw error;
      known.delete(id);
      return [];
    }
  }

  return {
    async read() {
      const listed = await newest();
      const executions = [...listed, ...(await running(listed))].reverse();
      const ended = executions.filter(({ id, status }) => status !== 'STARTED' && known.get(id) !== status);
      for (const { id, status } of executions) known.set(id, status);
      for (const id of [...known.keys()].slice(0, -REMEMBERED)) known.delete(id);
      return ended;
    },
  };
}

/** Whether the same request may succeed later. */
function mayPass(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ApiFailure && error.status >= 500);
}

function show(execution: Execution, { json }: { json?: true | undefined }): void {
  if (json) process.stdout.write(`${toJson(execution, 0)}\n`);
  else {
    const { started_at, id, tool_name, status, error_kind, duration_ms } = execution;
    say`${started_at}  ${id}  ${tool_name}  ${status}  ${error_kind ?? '-'}  ${duration_ms ?? '-'} ms`;
  }
}
