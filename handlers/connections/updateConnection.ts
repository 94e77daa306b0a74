import type { Connections } from '../../core/capabilities/connections.ts';
import { updateConnection as update } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const updateConnection: Handler<'updateConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await update(tx, connections, call.environment, before, call.body);
    await connections.events.connectionUpdated(tx, call.cause, connection.id, Object.keys(call.body));
    tx.afterCommit(connections.revocations.soon);
    return reply(200, { connection: await connectionAnswer(tx, connection, call.environment, connections) });
  });
