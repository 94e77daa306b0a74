import type { Connections } from '../../core/capabilities/connections.ts';
import { createConnection as create } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer } from './connection-answer.ts';

export const createConnection: Handler<'createConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) => {
    const connection = await create(tx, connections, call.environment, call.body);
    await connections.events.connectionCreated(tx, call.cause, connection.id);
    return reply(201, { connection: await connectionAnswer(tx, connection, call.environment, connections) });
  });
