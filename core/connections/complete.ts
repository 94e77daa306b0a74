import type { ConnectionRow, EnvironmentId, Transaction } from '../../db/store.ts';

/** Sets the status of a connection to COMPLETED, because an account of it has become active. A draft stays a draft. */
export async function completeConnection(
  tx: Transaction,
  environmentId: EnvironmentId,
  connection: ConnectionRow,
  at: number,
): Promise<void> {
  if (connection.status === 'IN_PROGRESS')
    await tx.connections.setStatus(environmentId, connection.id, 'COMPLETED', at);
}
