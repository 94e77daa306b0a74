import { updateConnection } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const enableConnection: Handler<'enableConnection'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await updateConnection(tx, deps, call.environment, before, { enabled: true });
    await deps.events.connectionUpdated(tx, call.cause, connection.id, ['enabled']);
    return reply(200, { connection: await connectionAnswer(tx, connection, call.environment, deps) });
  });
