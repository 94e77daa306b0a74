import type { Connections } from '../../core/capabilities/connections.ts';
import { updateConnection as update } from '../../core/connections/configure.ts';
import { describeConnection } from '../../core/connections/describe.ts';
import type { Handler } from '../../http/contract.ts';
import { requireConnection } from './require-connection.ts';

export const updateConnection: Handler<'updateConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await update(tx, connections, call.environment, before, call.body);
    await connections.events.emit(tx, call.cause, {
      type: 'connection.updated',
      subject: connection.id,
      details: { fields: Object.keys(call.body) },
      data: async (show) => ({ connection: await show.connection(connection) }),
    });
    return reply(200, {
      connection: await describeConnection(tx, connection, call.environment, connections.catalogue),
    });
  });
