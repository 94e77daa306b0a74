import { MCP_UPSTREAM } from '../../budgets.ts';
import type { Scrubber } from '../../net/redact.ts';
import { type Job, JobLimitError } from '../../threads/job.ts';
import type { ThreadPool } from '../../threads/pool.ts';
import type { Tool } from '../../tools/tool.ts';
import { cleanText } from './clean-text.ts';
import type { ConvertRequest } from './convert-thread.ts';
import type { ListedPage, ListedTool } from './results.ts';
import type { Converted } from './to-tool.ts';

/** A listed tool that could not be converted. */
export interface LeftOut {
  /** The name from the server, truncated; if it has no name, `#` and its position in the whole list, counted from 1. */
  tool: string;
  reason: string;
}

export interface Candidate {
  /** The name from the server. */
  sourceId: string;
  tool: Tool;
  changes: string[];
}

/** The tools of all pages that have been converted so far. */
export interface Candidates {
  tools: Candidate[];
  leftOut: LeftOut[];
  /** How many tools these pages contained, including tools that were not converted. */
  listed: number;
}

/** The context of a conversion. */
export interface ConvertContext {
  threads: Pick<ThreadPool, 'run'>;
  environmentId: string;
  connector: string;
  /**
   * Removes the credential that was sent to the server. It runs after hidden characters were removed, because hidden
   * characters inside the credential would prevent a match.
   */
  scrub: Scrubber;
}

type Named = ListedTool & { name: string };

const MODULE = new URL('./convert-thread.ts', import.meta.url);
const pageJob: Job<ConvertRequest, string> = { module: MODULE, timeMs: MCP_UPSTREAM.convertPageMs };
const toolJob: Job<ConvertRequest, string> = { module: MODULE, timeMs: MCP_UPSTREAM.convertToolMs };

const MAX_NAME = 128;
const TOO_LONG: Converted = { ok: false, reason: 'parsing its schemas takes too long' };

/**
 * Converts the tools of one page in a thread and adds the results to `into`. An unusable tool is added to `leftOut` and
 * does not affect the others. If the whole page takes too much time or memory, each tool is converted in a job with its
 * own limits. Tools beyond the maximum number and repeated names are skipped.
 *
 * @throws ApiError RATE_LIMITED or SERVER_BUSY if too much work waits for a thread
 */
export async function convertPage(context: ConvertContext, page: ListedPage, into: Candidates): Promise<void> {
  const named = namedTools(page, into);
  const converted = await inThread(context, named, pageJob).catch((error) => {
    if (!(error instanceof JobLimitError)) throw error;
    return oneByOne(context, named);
  });
  for (const [index, outcome] of converted.entries()) {
    const { name } = named[index] as Named;
    if (outcome.ok) into.tools.push({ sourceId: name, tool: outcome.tool, changes: outcome.changes });
    else into.leftOut.push({ tool: context.scrub(cleanText(name, MAX_NAME)), reason: outcome.reason });
  }
}

function namedTools({ tools, count }: ListedPage, into: Candidates): Named[] {
  const known = new Set(into.tools.map(({ sourceId }) => sourceId));
  const named: Named[] = [];
  for (const [index, { name, json }] of tools.entries()) {
    const at = into.listed + index + 1;
    if (at > MCP_UPSTREAM.tools) break;
    if (name === undefined) into.leftOut.push({ tool: `#${at}`, reason: 'it has no name' });
    else if (!known.has(name)) {
      named.push({ name, json });
      known.add(name);
    }
  }
  into.listed += count;
  return named;
}

async function inThread(
  { threads, environmentId, connector, scrub }: ConvertContext,
  tools: readonly Named[],
  job: Job<ConvertRequest, string>,
): Promise<Converted[]> {
  if (tools.length === 0) return [];
  const request = { connector, tools: `[${tools.map(({ json }) => json).join()}]` };
  const output = await threads.run(job, request, { tenant: environmentId, bytes: request.tools.length });
  return scrub.parsed(JSON.parse(output) as Converted[], Buffer.from(output));
}

async function oneByOne(context: ConvertContext, tools: readonly Named[]): Promise<Converted[]> {
  const converted: Converted[] = [];
  for (const tool of tools) {
    const [outcome] = await inThread(context, [tool], toolJob).catch((error) => {
      if (error instanceof JobLimitError) return [TOO_LONG];
      throw error;
    });
    converted.push(outcome ?? TOO_LONG);
  }
  return converted;
}

/**
 * Returns the tools that were left out. If the server lists more tools than the maximum, one further entry describes
 * all tools beyond it.
 */
export function allLeftOut({ leftOut, listed }: Candidates): LeftOut[] {
  const { tools } = MCP_UPSTREAM;
  if (listed <= tools) return leftOut;
  const reason = `the server lists ${listed} tools, but only ${tools} are read`;
  return [...leftOut, { tool: `#${tools + 1} to #${listed}`, reason }];
}
