import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';

/** Returns the number of successful calls over a connection by the names of tools. */
export async function toolUses(
  read: ReadRepositories,
  { environmentId, keyId }: ConnectionRow,
): Promise<ReadonlyMap<string, number>> {
  const rows = await read.executions.successes(environmentId, keyId);
  return new Map(rows.map(({ toolName, total }) => [toolName, total]));
}
