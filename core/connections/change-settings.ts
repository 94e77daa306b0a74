import type { EnvironmentRow, Transaction } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import type { Schemas } from '../present/schemas.ts';
import type { ConnectionInput } from './check-input.ts';
import { type ConfigurationDeps, updateConnection } from './configure.ts';
import { describeConnection } from './describe.ts';
import { requireConnection } from './require-connection.ts';

/** A request that changes a connection. */
export interface SettingsChange {
  environment: EnvironmentRow;
  cause: Cause;
  path: { connection_id: string };
}

/**
 * Updates a connection and emits an event.
 *
 * @param input the settings to change; others stay unchanged
 * @returns the connection with its settings, as the API returns it
 * @throws ApiError NOT_FOUND, VALIDATION_FAILED
 */
export async function changeSettings(
  tx: Transaction,
  deps: ConfigurationDeps,
  { environment, cause, path }: SettingsChange,
  input: ConnectionInput,
): Promise<Schemas['ConnectionConfiguration']> {
  const before = await requireConnection(tx, environment.id, path.connection_id);
  const connection = await updateConnection(tx, deps, environment, before, input);
  await deps.events.emit(tx, cause, {
    type: 'connection.updated',
    subject: connection.id,
    details: { fields: Object.keys(input) },
    data: async (show) => ({ connection: await show.connection(connection) }),
  });
  return describeConnection(tx, connection, environment, deps.catalogue);
}
