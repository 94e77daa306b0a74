import type { EnvironmentId, EnvironmentToolRow, ReadRepositories, Repositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import { unknownConnector } from '../connections/resolve.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { ToolJudge } from '../tools/judge.ts';
import type { Tool, ToolDefinition } from '../tools/tool.ts';
import type { ToolDirectory } from './directory.ts';

export interface CustomToolTools {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  now(): number;
}

export interface JudgeTools {
  catalogue: Catalogue;
  toolJudge: ToolJudge;
}

/** What is wrong with a definition, and for which definition and provider that holds. */
export interface JudgedTool {
  /** JSON. */
  definition: string;
  provider: string;
  errors: FieldError[];
}

/** What a request says about a tool; `null` clears an optional member. */
export type ToolChanges = { [Key in keyof ToolDefinition]?: ToolDefinition[Key] | null | undefined };

/**
 * Judges a definition before the transaction that writes it, in a thread: its schemas may take long to compile.
 *
 * @returns undefined for an unknown connector
 */
export async function judgeTool(
  read: ReadRepositories,
  { catalogue, toolJudge }: JudgeTools,
  environmentId: EnvironmentId,
  connector: string,
  definition: unknown,
): Promise<JudgedTool | undefined> {
  const provider = await findProvider(read, catalogue, environmentId, connector);
  if (!provider) return undefined;
  const errors = await toolJudge.judge(environmentId, definition, provider);
  return { definition: JSON.stringify(definition), provider: JSON.stringify(provider), errors };
}

/** `judgeTool` for a tool that is changed; undefined when there is none that can be. */
export async function judgeChanges(
  read: ReadRepositories,
  tools: JudgeTools,
  environmentId: EnvironmentId,
  name: string,
  changes: ToolChanges,
): Promise<JudgedTool | undefined> {
  const row = await read.environmentTools.get(environmentId, name);
  if (row?.source !== 'custom') return undefined;
  return judgeTool(read, tools, environmentId, row.connector, merged(row, changes));
}

/**
 * Makes a tool of the environment's own.
 *
 * @param definition as the request carries it, of any shape
 * @param judged from `judgeTool`
 * @throws ApiError UNKNOWN_CONNECTOR, TOOL_EXISTS, INVALID_TOOL; SERVER_BUSY when the provider was changed after the tool was judged
 */
export async function createCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  connector: string,
  definition: unknown,
  judged: JudgedTool | undefined,
): Promise<Tool> {
  const { name } = definition as ToolDefinition;
  const known = await tools.toolDirectory.find(tx, environmentId, name);
  if (known) throw new ApiError('TOOL_EXISTS', `The connector ${known.tool.connector} already has a tool ${name}.`);
  return write(tx, tools, environmentId, connector, definition, judged);
}

/**
 * Changes a tool that was made over the interface; what is left out stays.
 *
 * @param judged from `judgeChanges`
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY, INVALID_TOOL; SERVER_BUSY when tool or provider were changed after they were judged
 */
export async function updateCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  name: string,
  changes: ToolChanges,
  judged: JudgedTool | undefined,
): Promise<Tool> {
  const row = await requireOwn(tx, tools, environmentId, name);
  if (row.source !== 'custom') {
    const how = row.source === 'import' ? 'was imported' : 'was discovered at an MCP server';
    throw new ApiError('TOOL_READ_ONLY', `The tool ${name} ${how}, so its source manages it.`);
  }
  return write(tx, tools, environmentId, row.connector, merged(row, changes), judged);
}

/** The definition of a stored tool with changes. */
function merged(row: EnvironmentToolRow, changes: ToolChanges): object {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const all = { ...definitionOf(JSON.parse(row.definition) as Tool), ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/**
 * Deletes a tool of the environment's own, wherever it comes from.
 *
 * @returns the tool as it was
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY, TOOL_IN_USE
 */
export async function deleteCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  name: string,
): Promise<EnvironmentToolRow> {
  const row = await requireOwn(tx, tools, environmentId, name);
  const { connector } = row;
  const connections = (await tx.connections.listByProvider(environmentId, connector))
    .filter(({ allowedTools }) => allowedTools?.includes(name))
    .map(({ keyId }) => keyId);
  if (connections.length > 0) throw inUse(name, 'connection', connections);
  const configs = await tx.mcpConfigs.namesWithTool(environmentId, name);
  if (configs.length > 0) throw inUse(name, 'MCP config', configs);
  await tx.environmentTools.delete(environmentId, [name]);
  return row;
}

function inUse(tool: string, kind: string, users: readonly string[]): ApiError {
  const which = `The ${kind}${users.length === 1 ? '' : 's'} ${users.join(', ')}`;
  const verb = users.length === 1 ? 'allows' : 'allow';
  return new ApiError('TOOL_IN_USE', `${which} ${verb} the tool ${tool} by name. Remove it there first.`);
}

/** A tool without what says where it belongs: what its author wrote. */
export function definitionOf({ connector: _connector, generic: _generic, ...definition }: Tool): ToolDefinition {
  return definition;
}

async function requireOwn(
  tx: Repositories,
  { catalogue }: CustomToolTools,
  environmentId: EnvironmentId,
  name: string,
): Promise<EnvironmentToolRow> {
  if (catalogue.hasTool(name)) throw new ApiError('TOOL_READ_ONLY', `The tool ${name} belongs to the catalogue.`);
  const row = await tx.environmentTools.get(environmentId, name);
  if (!row) throw new ApiError('NOT_FOUND', 'The tool does not exist.');
  return row;
}

async function write(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  connector: string,
  data: unknown,
  judged: JudgedTool | undefined,
): Promise<Tool> {
  const provider = await findProvider(tx, tools.catalogue, environmentId, connector);
  if (!provider) throw unknownConnector(connector);
  if (judged?.definition !== JSON.stringify(data) || judged.provider !== JSON.stringify(provider)) {
    throw new ApiError('SERVER_BUSY', 'The tool or its connector was changed by another request. Try again.');
  }
  refuse(judged.errors);
  const tool: Tool = { connector, ...(data as ToolDefinition) };
  refuse(await checkTwins(tx, tools, environmentId, tool));
  await tx.environmentTools.upsert(environmentId, [
    { name: tool.name, connector, source: 'custom', sourceId: null, definition: tool, at: tools.now() },
  ]);
  return tool;
}

/** A model cannot choose between two tools that say the same. */
async function checkTwins(
  tx: Repositories,
  { catalogue }: CustomToolTools,
  environmentId: EnvironmentId,
  { connector, name, description }: Tool,
): Promise<FieldError[]> {
  const text = description.trim();
  const builtIn = catalogue.toolsOf(connector).filter((tool) => tool.description.trim() === text);
  const own = await tx.environmentTools.namesWithDescription(environmentId, connector, text);
  const twin = [...builtIn.map((tool) => tool.name), ...own].find((other) => other !== name);
  return twin === undefined ? [] : [{ field: 'description', message: `is the same as that of ${twin}` }];
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new ApiError('INVALID_TOOL', 'The tool is invalid.', { errors: errors.slice(0, 20) });
}
