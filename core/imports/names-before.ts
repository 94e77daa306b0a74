import type { EnvironmentId, EnvironmentToolEntry, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import { toolPrefix } from '../tools/tool-name.ts';

/**
 * Returns the existing tool names that an import needs to name its tools.
 *
 * @returns `names`: names from earlier imports for this connector, by source id. `taken`: names of other tools that
 * begin with the prefix of the connector
 * @throws ApiError VALIDATION_FAILED for a built-in connector
 */
export async function namesBefore(
  read: ReadRepositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  connector: string,
) {
  if (catalogue.connector(connector)) {
    const message = 'is a built-in connector, whose tools cannot be replaced; choose another name';
    const errors = [{ field: 'connector', message }];
    throw new ApiError(
      'VALIDATION_FAILED',
      `The connector ${connector} is built-in, so tools cannot be imported for it.`,
      { errors },
    );
  }
  const own = importedTools(await read.environmentTools.entriesOf(environmentId, connector));
  const names = new Map(own.map((row) => [row.sourceId as string, row.name]));
  const mine = new Set(own.map((row) => row.name));
  const prefix = toolPrefix(connector);
  const others = [...(await read.environmentTools.names(environmentId)), ...catalogue.toolNames()];
  return { names, taken: others.filter((name) => name.startsWith(prefix) && !mine.has(name)) };
}

/** Returns the tools that an earlier import has stored. */
export function importedTools(rows: readonly EnvironmentToolEntry[]): EnvironmentToolEntry[] {
  return rows.filter((row) => row.source === 'import' && row.sourceId !== null);
}
