import type { EnvironmentId, McpConfigRow, ReadRepositories, Repositories, StoredMcpMapping } from '../../db/store.ts';
import { UniqueError } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import { isMcpConnection } from '../connections/is-mcp-connection.ts';
import { writeWithinSpace } from '../environments/within-space.ts';
import { ApiError, type FieldError, requireFound } from '../errors.ts';
import type { OfferDeps } from './offered-tools.ts';
import { clashesOf, connectionNames } from './offered-tools.ts';
import type { McpMapping } from './server-definition.ts';

export interface ConfigDeps extends OfferDeps {
  now(): number;
  newId(prefix: 'mcp'): string;
}

/** A mapping in a request: a connection, and what the MCP server offers from it. */
export interface MappingInput {
  connection_id: string;
  tools?: string[] | null | undefined;
  max_listed_tools?: number | null | undefined;
  resources?: boolean | undefined;
  prompts?: boolean | undefined;
}

/** The fields of a request that creates or updates a config, which defines an MCP server. */
export interface ConfigInput {
  name?: string | undefined;
  description?: string | undefined;
  mappings?: MappingInput[] | undefined;
}

/**
 * Validates and stores a config.
 *
 * @throws ApiError UNKNOWN_CONNECTOR, VALIDATION_FAILED (also if the environment has reached its limit for configs),
 * MCP_CONFIG_EXISTS
 */
export async function createConfig(
  tx: Repositories,
  deps: ConfigDeps,
  environmentId: EnvironmentId,
  { name, description = '', mappings }: ConfigInput & { name: string; mappings: MappingInput[] },
): Promise<McpConfigRow> {
  const id = deps.newId('mcp');
  const at = deps.now();
  const stored = await checkMappings(tx, deps, environmentId, mappings);
  const config = { id, name, description, mappings: stored, createdAt: at, updatedAt: at };
  await writeConfig(tx, environmentId, name, () => tx.mcpConfigs.insert(environmentId, config));
  return requireConfig(tx, environmentId, id);
}

/**
 * Validates and stores the given fields of a config. Fields that are not given keep their values.
 *
 * @throws ApiError UNKNOWN_CONNECTOR, VALIDATION_FAILED, MCP_CONFIG_EXISTS
 */
export async function updateConfig(
  tx: Repositories,
  deps: ConfigDeps,
  config: McpConfigRow,
  { name = config.name, description = config.description, mappings }: ConfigInput,
): Promise<McpConfigRow> {
  const { environmentId, id, version } = config;
  const stored = mappings ? await checkMappings(tx, deps, environmentId, mappings) : config.mappings;
  const changes = { name, description, mappings: stored, updatedAt: deps.now() };
  await writeConfig(tx, environmentId, name, () => tx.mcpConfigs.update(environmentId, id, version, changes));
  return requireConfig(tx, environmentId, id);
}

/** @throws ApiError NOT_FOUND */
export async function requireConfig(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
): Promise<McpConfigRow> {
  return requireFound(await read.mcpConfigs.get(environmentId, id), 'The MCP config');
}

async function writeConfig(
  tx: Repositories,
  environmentId: EnvironmentId,
  name: string,
  write: () => Promise<unknown>,
): Promise<void> {
  const { mcpConfigs: count, mcpConfigsBytes: bytes } = STORED;
  const totals = () => tx.mcpConfigs.totals(environmentId);
  try {
    await writeWithinSpace({ kind: 'MCP configs', sized: 'mappings', count, bytes, totals }, write);
  } catch (cause) {
    if (!(cause instanceof UniqueError)) throw cause;
    const detail = `The environment already has an MCP config named "${name}". Choose another name, or update that config.`;
    throw new ApiError('MCP_CONFIG_EXISTS', detail, { cause });
  }
}

/**
 * Validates mappings and returns them as they are stored. Two mappings must not offer tools with the same name, because
 * a model calls tools by name only. Only connections of third-party MCP servers can offer resources and prompts.
 *
 * @throws ApiError UNKNOWN_CONNECTOR if a connection does not exist; VALIDATION_FAILED for other faults
 */
async function checkMappings(
  tx: Repositories,
  deps: ConfigDeps,
  environmentId: EnvironmentId,
  given: readonly MappingInput[],
): Promise<StoredMcpMapping[]> {
  const errors: FieldError[] = [];
  const unknown: FieldError[] = [];
  const mappings: McpMapping[] = [];
  const names = connectionNames(tx, deps);
  for (const [index, { connection_id: id, tools: chosen = null, ...offered }] of given.entries()) {
    const field = `mappings[${index}]`;
    const { max_listed_tools: maxListed, resources = false, prompts = false } = offered;
    const connection = await tx.connections.get(environmentId, id);
    if (!connection) {
      unknown.push({ field: `${field}.connection_id`, message: 'does not name a connection of the environment' });
      continue;
    }
    const known = await names.of(connection);
    for (const [place, name] of (chosen ?? []).entries()) {
      if (known.has(name)) continue;
      const message = `does not name a tool that the connection allows: ${name}`;
      errors.push({ field: `${field}.tools[${place}]`, message });
    }
    if (chosen !== null && typeof maxListed === 'number') {
      const message = 'must be omitted or null if tools is given, because all of these tools are listed';
      errors.push({ field: `${field}.max_listed_tools`, message });
    }
    if ((resources || prompts) && !(await isMcpConnection(tx, deps.catalogue, connection))) {
      const message = 'is only allowed for a connection of an MCP server';
      errors.push({ field: `${field}.${resources ? 'resources' : 'prompts'}`, message });
    }
    mappings.push({ connection, tools: chosen, maxListed: null, resources, prompts });
  }
  if (unknown.length > 0)
    throw new ApiError('UNKNOWN_CONNECTOR', 'A mapping does not name a connection.', { errors: unknown });
  if (errors.length === 0) {
    for (const { mapping, names: twice } of await clashesOf(names, mappings)) {
      const message = `offers the same tools as an earlier mapping: ${shortList(twice)}; list the tools of each mapping`;
      errors.push({ field: `mappings[${mapping}].tools`, message });
    }
  }
  if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'The mappings are invalid.', { errors });
  return given.map(
    ({ connection_id: connectionId, tools: chosen = null, max_listed_tools: maxListed, ...offered }) => ({
      connectionId,
      tools: chosen,
      ...(chosen === null && maxListed !== undefined && { maxListed }),
      resources: offered.resources === true,
      prompts: offered.prompts === true,
    }),
  );
}

function shortList(names: string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
}
