import type { Connections } from '../../core/capabilities/connections.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const getConnection: Handler<'getConnection', Connections> = async (call, reply, connections) => {
  const { read } = connections.store;
  const connection = await requireConnection(read, call.environment.id, call.path.connection_id);
  return reply(200, { connection: await connectionAnswer(read, connection, call.environment, connections) });
};
