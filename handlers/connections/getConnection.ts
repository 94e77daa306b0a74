import type { Connections } from '../../core/capabilities/connections.ts';
import { describeConnection } from '../../core/connections/describe.ts';
import { requireConnection } from '../../core/connections/require-connection.ts';
import type { Handler } from '../../http/contract.ts';

export const getConnection: Handler<'getConnection', Connections> = async (call, reply, connections) => {
  const { read } = connections.store;
  const connection = await requireConnection(read, call.environment.id, call.path.connection_id);
  return reply(200, {
    connection: await describeConnection(read, connection, call.environment, connections.catalogue),
  });
};
