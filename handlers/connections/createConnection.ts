import { createConnection as create } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer } from './connection-answer.ts';

export const createConnection: Handler<'createConnection'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const connection = await create(tx, deps, call.environment, call.body);
    await deps.events.connectionCreated(tx, call.cause, connection.id);
    return reply(201, { connection: await connectionAnswer(tx, connection, call.environment, deps) });
  });
