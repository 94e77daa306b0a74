import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';

/** Returns the number of successful calls of each tool over a connection, by the tool's name. */
export async function toolUses(
  read: ReadRepositories,
  { environmentId, keyId }: ConnectionRow,
): Promise<ReadonlyMap<string, number>> {
  const rows = await read.executions.successes(environmentId, keyId);
  return new Map(rows.map(({ toolName, total }) => [toolName, total]));
}
