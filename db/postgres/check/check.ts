import { POSTGRES } from '../../../core/budgets.ts';
import type { CheckLine, ConnectionOptions } from '../../engine.ts';
import { StorageError } from '../../errors.ts';
import { openSession } from '../session.ts';
import { checkPooler } from './pooler.ts';
import { SCHEMA_CHECKS } from './schema.ts';
import { SERVER_CHECKS } from './server.ts';
import { type Check, type CheckDeps, fail, type Result } from './tools.ts';

const CHECKS: readonly Check[] = [...SCHEMA_CHECKS, ...SERVER_CHECKS, ['prepared statements', checkPooler]];

/**
 * Checks whether Valetkey can use a database: its schema, indexes and privileges, and the settings of the database
 * server. Changes nothing.
 *
 * @throws StorageError if the server cannot be reached or is a standby
 */
export async function checkDatabase(
  location: string,
  {
    now,
    writers = POSTGRES.writers,
    readers = POSTGRES.readers,
    prepare = true,
  }: ConnectionOptions & { now: () => number },
): Promise<CheckLine[]> {
  const session = await openSession(location);
  // One more connection of each server listens for notifications.
  const deps: CheckDeps = { query: session.query, location, now, connections: writers + readers + 1, prepare };
  const lines: CheckLine[] = [];
  try {
    for (const [name, run] of CHECKS) lines.push({ name, ...(await run(deps).catch(failed)) });
    return lines;
  } finally {
    await session.close().catch(() => {});
  }
}

/**
 * Returns the result of a check that could not be made, for example because a table is missing. @throws StorageError if
 * the connection was lost
 */
function failed(error: unknown): Result {
  if (error instanceof StorageError && error.code === 'CONNECTION_LOST') throw error;
  return fail(`cannot be checked: ${(error as Error).message}`);
}
