import type { EnvironmentId, EnvironmentToolRow, ReadRepositories, Repositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import { unknownProvider } from '../connections/resolve.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { FieldError } from '../errors.ts';
import { ApiError, requireFound } from '../errors.ts';
import { definitionOf, type Tool, type ToolDefinition } from '../tools/tool.ts';
import type { ToolValidator } from '../tools/tool-validator.ts';
import type { ToolDirectory } from './directory.ts';
import { requireToolSpace } from './tool-space.ts';

export interface CustomToolDeps {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  now(): number;
}

export interface ToolValidationDeps {
  catalogue: Catalogue;
  toolValidator: ToolValidator;
}

/** The result of checking a tool definition, with the definition and the provider that were checked. */
export interface ValidatedTool {
  /** The checked definition as JSON. */
  definition: string;
  provider: string;
  errors: FieldError[];
}

/** The fields of a request that changes a tool; `null` clears an optional field. */
export type ToolChanges = { [Key in keyof ToolDefinition]?: ToolDefinition[Key] | null | undefined };

/**
 * Checks a definition before the transaction that writes it. This happens in a thread, because compiling its schemas
 * may take long.
 *
 * @returns undefined for an unknown connector
 */
export async function validateTool(
  read: ReadRepositories,
  { catalogue, toolValidator }: ToolValidationDeps,
  environmentId: EnvironmentId,
  connector: string,
  definition: unknown,
): Promise<ValidatedTool | undefined> {
  const provider = await findProvider(read, catalogue, environmentId, connector);
  if (!provider) return undefined;
  const errors = await toolValidator.validate(environmentId, definition, provider);
  return { definition: JSON.stringify(definition), provider: JSON.stringify(provider), errors };
}

/**
 * Checks the changes of a tool before the transaction that writes them.
 *
 * @returns undefined if the environment has no tool of this name that was created through the API, or if the tool's
 * provider is unknown
 */
export async function validateToolChanges(
  read: ReadRepositories,
  deps: ToolValidationDeps,
  environmentId: EnvironmentId,
  name: string,
  changes: ToolChanges,
): Promise<ValidatedTool | undefined> {
  const row = await read.environmentTools.get(environmentId, name);
  if (row?.source !== 'custom') return undefined;
  return validateTool(read, deps, environmentId, row.connector, merged(row, changes));
}

/**
 * Creates a custom tool of the environment.
 *
 * @param definition from the request, not validated yet
 * @param validated from `validateTool`
 * @throws ApiError UNKNOWN_CONNECTOR, TOOL_EXISTS, INVALID_TOOL, VALIDATION_FAILED if the environment has too many
 *   tools; SERVER_BUSY if the provider was changed after the check
 */
export async function createCustomTool(
  tx: Repositories,
  deps: CustomToolDeps,
  environmentId: EnvironmentId,
  connector: string,
  definition: unknown,
  validated: ValidatedTool | undefined,
): Promise<Tool> {
  const { name } = definition as ToolDefinition;
  const known = await deps.toolDirectory.find(tx, environmentId, name);
  if (known) {
    const detail = `The connector ${known.tool.connector} already has a tool ${name}. Choose another name.`;
    throw new ApiError('TOOL_EXISTS', detail);
  }
  await requireToolSpace(tx, environmentId, 1);
  return write(tx, deps, environmentId, connector, definition, validated);
}

/**
 * Updates a tool that was created through the API. Omitted fields keep their values.
 *
 * @param validated from `validateToolChanges`
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY, INVALID_TOOL; UNKNOWN_CONNECTOR if the provider was deleted; SERVER_BUSY
 *   if the tool or its provider was changed after the check
 */
export async function updateCustomTool(
  tx: Repositories,
  deps: CustomToolDeps,
  environmentId: EnvironmentId,
  name: string,
  changes: ToolChanges,
  validated: ValidatedTool | undefined,
): Promise<Tool> {
  const row = await requireOwn(tx, deps, environmentId, name);
  if (row.source !== 'custom') {
    const how =
      row.source === 'import'
        ? 'was imported: change its OpenAPI document and import it again'
        : 'was discovered at an MCP server: change it there and synchronize the tools';
    throw new ApiError('TOOL_READ_ONLY', `The tool ${name} ${how}, or set an overlay.`);
  }
  return write(tx, deps, environmentId, row.connector, merged(row, changes), validated);
}

/** Returns the definition of a stored tool with the changes applied. */
function merged(row: EnvironmentToolRow, changes: ToolChanges): object {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const all = { ...definitionOf(JSON.parse(row.definition) as Tool), ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/**
 * Deletes a tool that the environment stores: created through the API, imported, or listed by an MCP server.
 *
 * @returns the tool before the deletion
 * @throws ApiError NOT_FOUND, TOOL_READ_ONLY for a tool of the catalogue, TOOL_IN_USE while a connection or an MCP
 *   config allows the tool by name
 */
export async function deleteCustomTool(
  tx: Repositories,
  deps: CustomToolDeps,
  environmentId: EnvironmentId,
  name: string,
): Promise<EnvironmentToolRow> {
  const row = await requireOwn(tx, deps, environmentId, name);
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
  const verb = users.length === 1 ? 'lists' : 'list';
  const place = kind === 'connection' ? 'allowed_tools' : 'mappings';
  return new ApiError('TOOL_IN_USE', `${which} ${verb} the tool ${tool} in ${place}. Remove it there first.`);
}

async function requireOwn(
  tx: Repositories,
  { catalogue }: CustomToolDeps,
  environmentId: EnvironmentId,
  name: string,
): Promise<EnvironmentToolRow> {
  if (catalogue.hasTool(name)) {
    const detail = `The tool ${name} belongs to the catalogue. Set an overlay, or create a tool with another name.`;
    throw new ApiError('TOOL_READ_ONLY', detail);
  }
  return requireFound(await tx.environmentTools.get(environmentId, name), `The tool ${name}`);
}

async function write(
  tx: Repositories,
  deps: CustomToolDeps,
  environmentId: EnvironmentId,
  connector: string,
  data: unknown,
  validated: ValidatedTool | undefined,
): Promise<Tool> {
  const provider = await findProvider(tx, deps.catalogue, environmentId, connector);
  if (!provider) throw unknownProvider(connector);
  if (validated?.definition !== JSON.stringify(data) || validated.provider !== JSON.stringify(provider)) {
    throw new ApiError('SERVER_BUSY', 'The tool or its connector was changed by another request. Try again.');
  }
  rejectIfInvalid(validated.errors);
  const tool: Tool = { connector, ...(data as ToolDefinition) };
  rejectIfInvalid(await duplicateDescriptionErrors(tx, deps, environmentId, tool));
  await tx.environmentTools.upsert(environmentId, [
    { name: tool.name, connector, source: 'custom', sourceId: null, definition: tool, at: deps.now() },
  ]);
  return tool;
}

/**
 * Returns an error if another tool of the connector has the same description, because a model could not choose between
 * them.
 */
async function duplicateDescriptionErrors(
  tx: Repositories,
  { catalogue }: CustomToolDeps,
  environmentId: EnvironmentId,
  { connector, name, description }: Tool,
): Promise<FieldError[]> {
  const text = description.trim();
  const builtIn = catalogue.toolsOf(connector).filter((tool) => tool.description.trim() === text);
  const own = await tx.environmentTools.namesWithDescription(environmentId, connector, text);
  const twin = [...builtIn.map((tool) => tool.name), ...own].find((other) => other !== name);
  return twin === undefined ? [] : [{ field: 'description', message: `is the same as that of ${twin}` }];
}

function rejectIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new ApiError('INVALID_TOOL', 'The tool is invalid.', { errors: errors.slice(0, 20) });
}
