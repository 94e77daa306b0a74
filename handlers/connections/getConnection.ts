import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const getConnection: Handler<'getConnection'> = async (call, reply, deps) => {
  const { read } = deps.store;
  const connection = await requireConnection(read, call.environment.id, call.path.connection_id);
  return reply(200, { connection: await connectionAnswer(read, connection, call.environment, deps) });
};
