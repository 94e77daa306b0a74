import type { Connections } from '../../core/capabilities/connections.ts';
import { updateConnection } from '../../core/connections/configure.ts';
import { describeConnection } from '../../core/connections/describe.ts';
import type { Handler } from '../../http/contract.ts';
import { requireConnection } from './require-connection.ts';

export const enableConnection: Handler<'enableConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await updateConnection(tx, connections, call.environment, before, { enabled: true });
    await connections.events.emit(tx, call.cause, {
      type: 'connection.updated',
      subject: connection.id,
      details: { fields: ['enabled'] },
      data: async (show) => ({ connection: await show.connection(connection) }),
    });
    return reply(200, {
      connection: await describeConnection(tx, connection, call.environment, connections.catalogue),
    });
  });
