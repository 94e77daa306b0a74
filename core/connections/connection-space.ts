import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import { ApiError } from '../errors.ts';

/**
 * Runs the write of a new or changed connection, and rejects it if the environment then has too many connections or
 * settings: searches and lists read all of them.
 *
 * @throws ApiError VALIDATION_FAILED, which rolls the transaction back
 */
export async function writeWithinSpace(
  tx: Transaction,
  environmentId: EnvironmentId,
  write: () => Promise<unknown>,
): Promise<void> {
  const before = await tx.connections.totals(environmentId);
  await write();
  const { count, size } = await tx.connections.totals(environmentId);
  const { connections, connectionsBytes } = STORED;
  if (count <= Math.max(before.count, connections) && size <= Math.max(before.size, connectionsBytes)) return;
  const limits = `at most ${connections} connections, with settings of at most ${connectionsBytes} bytes in total`;
  throw new ApiError(
    'VALIDATION_FAILED',
    `The environment has reached its limit for connections: it can have ${limits}.`,
  );
}
