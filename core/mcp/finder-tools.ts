import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ReadRepositories } from '../../db/store.ts';
import { SCHEMA } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { createInputValidator, type InputValidator } from '../tools/input.ts';
import { copyInput } from '../tools/input-copy.ts';
import { CALL_TOOL, FINDER_TOOLS, SEARCH_TOOLS } from './finder-definitions.ts';
import { offersMoreThanListed } from './listed-tools.ts';
import { findOffered, type OfferDeps, type OfferedTool, offeredNames, presentOffered } from './offered-tools.ts';
import { presentMcpTool } from './present-tool.ts';
import { failureResult, jsonResult } from './results.ts';
import type { McpSession } from './session.ts';

export interface FinderDeps extends OfferDeps {
  store: { read: ReadRepositories };
}

/** How a `tools/call` request is served: by running a tool with this input, or with a result that needs no provider. */
export type MeantCall =
  | { kind: 'tool'; offered: OfferedTool; input: unknown }
  | { kind: 'result'; result: CallToolResult };

let validator: InputValidator | undefined;

/**
 * Finds the tool that a `tools/call` request means. If the request calls the search tool, the search is run. If it
 * calls the tool that calls unlisted tools, the tool named in its arguments is found. These two finder tools are
 * recognized only on a server that lists them. On other servers, a connection may offer tools with their names.
 *
 * @param name the name of the called tool
 * @param input the arguments of the call
 * @returns undefined if the server does not offer the tool `name`; an error result if the arguments of a finder tool
 * are invalid or name an unknown tool
 */
export async function meantCall(
  deps: FinderDeps,
  session: McpSession,
  name: string,
  input: Record<string, unknown>,
): Promise<MeantCall | undefined> {
  const { read } = deps.store;
  const isFinder = name === SEARCH_TOOLS || name === CALL_TOOL;
  if (!isFinder || !(await offersMoreThanListed(read, deps, session.server))) {
    const offered = await findOffered(read, deps, session.server, name);
    return offered && { kind: 'tool', offered, input };
  }
  try {
    const given = checked(name, input);
    return name === SEARCH_TOOLS ? await search(deps, session, given) : await unlisted(deps, session, given);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'result', result: failureResult(error) };
  }
}

/**
 * Validates the arguments of a finder tool.
 *
 * @returns a copy with the default values
 * @throws ApiError INVALID_TOOL_INPUT
 */
function checked(name: string, input: Record<string, unknown>): Record<string, unknown> {
  const { inputSchema } = FINDER_TOOLS.find((tool) => tool.name === name) as (typeof FINDER_TOOLS)[number];
  const copy = copyInput(input);
  validator ??= createInputValidator(FINDER_TOOLS.length, SCHEMA.patternSteps);
  validator.validate(inputSchema, copy);
  return copy.value;
}

async function search(deps: FinderDeps, { environment, server }: McpSession, input: Record<string, unknown>) {
  const { query, limit } = input as { query: string; limit: number };
  const { read } = deps.store;
  const offered = new Map((await offeredNames(read, deps, server)).map((one) => [one.name, one]));
  const names = new Set(offered.keys());
  const hits = await deps.toolDirectory.search(read, environment.id, query, { names });
  const found = hits.slice(0, limit).flatMap(({ card }) => offered.get(card.name) ?? []);
  const { items: tools } = await presentOffered(read, deps, found, (tool) => {
    const { name, description, inputSchema } = presentMcpTool(tool);
    return { name, description, inputSchema };
  });
  const note = 'No tool matches. Use other words: what to do, with what, in which application.';
  return { kind: 'result' as const, result: jsonResult({ tools, ...(tools.length === 0 && { note }) }) };
}

async function unlisted(deps: FinderDeps, { server }: McpSession, input: Record<string, unknown>): Promise<MeantCall> {
  const { name, arguments: toolInput = {} } = input as { name: string; arguments?: unknown };
  const offered = await findOffered(deps.store.read, deps, server, name);
  if (offered) return { kind: 'tool', offered, input: toolInput };
  const message = `is not a tool of this server; find names with ${SEARCH_TOOLS}`;
  throw new ApiError('INVALID_TOOL_INPUT', `tool_input.name ${message}`, {
    errors: [{ field: 'tool_input.name', message }],
  });
}
