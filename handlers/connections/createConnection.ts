import type { Connections } from '../../core/capabilities/connections.ts';
import { createConnection as create } from '../../core/connections/configure.ts';
import { describeConnection } from '../../core/connections/describe.ts';
import type { Handler } from '../../http/contract.ts';

export const createConnection: Handler<'createConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const connection = await create(tx, connections, call.environment, call.body);
    await connections.events.emit(tx, call.cause, {
      type: 'connection.created',
      subject: connection.id,
      data: async (show) => ({ connection: await show.connection(connection) }),
    });
    return reply(201, {
      connection: await describeConnection(tx, connection, call.environment, connections.catalogue),
    });
  });
