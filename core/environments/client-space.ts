import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import { ApiError } from '../errors.ts';

/** @throws ApiError VALIDATION_FAILED if the environment cannot have another enabled API client */
export async function requireClientSpace(tx: Transaction, environmentId: EnvironmentId): Promise<void> {
  const { enabled } = await tx.apiClients.totals(environmentId);
  if (enabled < STORED.apiClients) return;
  const limit = `it can have at most ${STORED.apiClients} that are enabled. Disable clients that are not used.`;
  throw new ApiError('VALIDATION_FAILED', `The environment has reached its limit for API clients: ${limit}`);
}

/**
 * Removes the client that was disabled first, if the environment has too many disabled ones.
 *
 * @returns its id; undefined if none was removed
 */
export async function removeSurplusClient(tx: Transaction, environmentId: EnvironmentId): Promise<string | undefined> {
  const { disabled } = await tx.apiClients.totals(environmentId);
  return disabled > STORED.disabledApiClients ? await tx.apiClients.removeFirstDisabled(environmentId) : undefined;
}
