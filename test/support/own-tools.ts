import type { Tool } from '../../core/tools/tool.ts';
import type { EnvironmentId, NewEnvironmentTool } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** A tool that reads one item of a provider. */
export function ownTool(connector: string, name: string, over: Partial<Tool> = {}): Tool {
  return {
    connector,
    name,
    title: 'Get thing',
    description: 'Reads one thing by its number, with its name and colour. Changes nothing.',
    tags: ['things'],
    hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
    scopes: [],
    input_schema: {
      type: 'object',
      additionalProperties: false,
      required: ['number'],
      properties: { number: { type: 'integer', minimum: 1, description: 'The number of the thing.' } },
    },
    output_schema: { type: 'object' },
    examples: [{ input: { number: 1 }, note: 'The first thing.' }],
    request: { method: 'GET', path: '/things/{number}' },
    ...over,
  };
}

/** Returns the body of a request that creates such a tool. */
export function toolBody(connector: string, name: string, over: Partial<Tool> = {}): Record<string, unknown> {
  return { ...ownTool(connector, name, over) };
}

/** Stores custom tools of an environment, by default of the first one. */
export async function storeTools(
  server: TestServer,
  tools: readonly Tool[],
  { environment, ...over }: Partial<NewEnvironmentTool> & { environment?: EnvironmentId } = {},
): Promise<void> {
  const id = environment ?? (await firstEnvironment(server)).id;
  const rows = tools.map((definition) => ({
    name: definition.name,
    connector: definition.connector,
    source: 'custom' as const,
    sourceId: null,
    definition,
    at: server.parts.now(),
    ...over,
  }));
  await server.parts.store.write((tx) => tx.environmentTools.upsert(id, rows));
}
