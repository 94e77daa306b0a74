import type { ConnectionRow, EnvironmentId, Transaction } from '../../db/store.ts';

/** Marks a connection as completed when it has its first active account; a draft stays a draft. */
export async function completeConnection(
  tx: Transaction,
  environmentId: EnvironmentId,
  connection: ConnectionRow,
  at: number,
): Promise<void> {
  if (connection.status === 'IN_PROGRESS')
    await tx.connections.setStatus(environmentId, connection.id, 'COMPLETED', at);
}
