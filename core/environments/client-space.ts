import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import { limitReached } from './within-space.ts';

/** @throws ApiError VALIDATION_FAILED if the environment cannot have another enabled API client */
export async function requireApiClientSpace(tx: Transaction, environmentId: EnvironmentId): Promise<void> {
  const { enabled } = await tx.apiClients.totals(environmentId);
  if (enabled < STORED.apiClients) return;
  throw limitReached(
    'API clients',
    `at most ${STORED.apiClients} that are enabled. Disable clients that are not used.`,
  );
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
