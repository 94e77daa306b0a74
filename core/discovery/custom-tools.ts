import type { EnvironmentId, EnvironmentToolRow, Repositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import { unknownConnector } from '../connections/resolve.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { DefinitionSchema } from '../tools/definition-schema.ts';
import type { Tool, ToolDefinition } from '../tools/tool.ts';
import type { ToolRules } from '../tools/tool-rules.ts';
import type { ToolDirectory } from './directory.ts';

export interface CustomToolTools {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  /** Compiled when the first tool is judged. */
  toolJudge(): ToolJudge;
  now(): number;
}

export interface ToolJudge {
  schema: DefinitionSchema;
  rules: ToolRules;
}

/** What a request says about a tool; `null` clears an optional member. */
export type ToolChanges = { [Key in keyof ToolDefinition]?: ToolDefinition[Key] | null | undefined };

/**
 * Makes a tool of the environment's own.
 *
 * @param definition as the request carries it, of any shape
 * @throws ApiError UNKNOWN_CONNECTOR, TOOL_EXISTS, INVALID_TOOL
 */
export async function createCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  connector: string,
  definition: unknown,
): Promise<Tool> {
  const { name } = definition as ToolDefinition;
  const known = await tools.toolDirectory.find(tx, environmentId, name);
  if (known)
    throw new ApiError('TOOL_EXISTS', `There is a tool called ${name}, of the connector ${known.tool.connector}.`);
  return write(tx, tools, environmentId, connector, definition);
}

/**
 * Changes a tool that was made over the interface; what is left out stays.
 *
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY, INVALID_TOOL
 */
export async function updateCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  name: string,
  changes: ToolChanges,
): Promise<Tool> {
  const row = await requireOwn(tx, tools, environmentId, name);
  if (row.source !== 'custom') {
    const how = row.source === 'import' ? 'was imported' : 'was discovered at an MCP server';
    throw new ApiError('TOOL_READ_ONLY', `The tool ${name} ${how}: it changes with its source.`);
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = { ...definitionOf(JSON.parse(row.definition) as Tool), ...Object.fromEntries(given) };
  const definition = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  return write(tx, tools, environmentId, row.connector, definition);
}

/**
 * Deletes a tool of the environment's own, wherever it comes from.
 *
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY, TOOL_IN_USE
 */
export async function deleteCustomTool(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  name: string,
): Promise<void> {
  const { connector } = await requireOwn(tx, tools, environmentId, name);
  const connections = (await tx.connections.listByProvider(environmentId, connector))
    .filter(({ allowedTools }) => allowedTools?.includes(name))
    .map(({ keyId }) => keyId);
  if (connections.length > 0) throw inUse(name, 'connection', connections);
  const configs = await tx.mcpConfigs.namesWithTool(environmentId, name);
  if (configs.length > 0) throw inUse(name, 'MCP config', configs);
  await tx.environmentTools.delete(environmentId, [name]);
}

function inUse(tool: string, kind: string, users: readonly string[]): ApiError {
  const which = `The ${kind}${users.length === 1 ? '' : 's'} ${users.join(', ')}`;
  const verb = users.length === 1 ? 'allows' : 'allow';
  return new ApiError('TOOL_IN_USE', `${which} ${verb} the tool ${tool} by name. Take it off the list first.`);
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
  if (catalogue.tool(name)) throw new ApiError('TOOL_READ_ONLY', `The tool ${name} comes with the catalogue.`);
  const row = await tx.environmentTools.get(environmentId, name);
  if (!row) throw new ApiError('NOT_FOUND', 'There is no such tool.');
  return row;
}

async function write(
  tx: Repositories,
  tools: CustomToolTools,
  environmentId: EnvironmentId,
  connector: string,
  data: unknown,
): Promise<Tool> {
  const provider = await findProvider(tx, tools.catalogue, environmentId, connector);
  if (!provider) throw unknownConnector(connector);
  const judge = tools.toolJudge();
  refuse(judge.schema.checkTool(data));
  const definition = data as ToolDefinition;
  refuse([
    ...judge.rules.check(definition, provider),
    ...(await checkTwins(tx, tools, environmentId, connector, definition)),
  ]);
  const tool: Tool = { connector, ...definition };
  await tx.environmentTools.upsert(environmentId, [
    { name: tool.name, connector, source: 'custom', sourceId: null, definition: tool, at: tools.now() },
  ]);
  return tool;
}

/** A model cannot choose between two tools that say the same. */
async function checkTwins(
  tx: Repositories,
  { toolDirectory }: CustomToolTools,
  environmentId: EnvironmentId,
  connector: string,
  { name, description }: ToolDefinition,
): Promise<FieldError[]> {
  const all = await toolDirectory.list(tx, environmentId, { connector });
  const twin = all.find(({ tool }) => tool.name !== name && tool.description.trim() === description.trim());
  return twin ? [{ field: 'description', message: `is that of ${twin.tool.name}, word for word` }] : [];
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0)
    throw new ApiError('INVALID_TOOL', 'The tool cannot be used so.', { errors: errors.slice(0, 20) });
}
