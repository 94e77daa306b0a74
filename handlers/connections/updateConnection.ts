import { updateConnection as update } from '../../core/connections/configure.ts';
import type { Handler } from '../../http/contract.ts';
import { connectionAnswer, requireConnection } from './connection-answer.ts';

export const updateConnection: Handler<'updateConnection'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const before = await requireConnection(tx, call.environment.id, call.path.connection_id);
    const connection = await update(tx, deps, call.environment, before, call.body);
    await deps.events.connectionUpdated(tx, call.cause, connection.id, Object.keys(call.body));
    tx.afterCommit(deps.revocations.soon);
    return reply(200, { connection: await connectionAnswer(tx, connection, call.environment, deps) });
  });
