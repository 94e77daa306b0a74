import type { Connections } from '../../core/capabilities/connections.ts';
import { updateConnection } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const enableConnection: Handler<'enableConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await updateConnection(tx, connections, call.environment, before, { enabled: true });
    await connections.events.connectionUpdated(tx, call.cause, connection.id, ['enabled']);
    return reply(200, { connection: await connectionAnswer(tx, connection, call.environment, connections) });
  });
