import type { Operators } from '../../core/capabilities/operators.ts';
import { ApiError } from '../../core/errors.ts';
import { endSession } from '../../core/operators/sessions.ts';
import { presentOperatorSession } from '../../core/present/operator-session.ts';
import type { Handler } from '../../http/contract.ts';

export const endOperatorSession: Handler<'endOperatorSession', Operators> = (call, reply, operators) =>
  call.commit(async (tx) => {
    const session = await endSession(tx, operators, call.cause, call.path.session_id);
    if (!session) throw new ApiError('NOT_FOUND', 'The operator session does not exist, or has ended.');
    return reply(200, { operator_session: presentOperatorSession(session) });
  });
