import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { STORAGE } from '../budgets.ts';
import { inBatches } from '../scheduling/in-batches.ts';

/** Deletes tools of an environment by name, in batches, so that other work can run on the event loop in between. */
export async function deleteTools(
  tx: Pick<Transaction, 'yieldToEventLoop' | 'environmentTools'>,
  environmentId: EnvironmentId,
  names: readonly string[],
): Promise<void> {
  await inBatches(tx, names, (batch) => tx.environmentTools.delete(environmentId, batch), STORAGE.deletionsPerTurn);
}

/** Deletes all tools of a provider in batches, so that other work can run on the event loop in between. */
export async function deleteToolsOf(
  tx: Pick<Transaction, 'yieldToEventLoop' | 'environmentTools'>,
  environmentId: EnvironmentId,
  connector: string,
): Promise<void> {
  const size = STORAGE.deletionsPerTurn;
  while ((await tx.environmentTools.deleteOfConnector(environmentId, connector, size)) === size)
    await tx.yieldToEventLoop();
}
