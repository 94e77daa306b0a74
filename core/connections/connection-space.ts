import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import type { Space } from '../environments/within-space.ts';

/**
 * Returns the storage limits for the connections of an environment. They exist because searches and lists read all
 * connections.
 */
export function connectionSpace(tx: Transaction, environmentId: EnvironmentId): Space {
  const { connections: count, connectionsBytes: bytes } = STORED;
  const totals = () => tx.connections.totals(environmentId);
  return { kind: 'connections', sized: 'settings', count, bytes, totals };
}
