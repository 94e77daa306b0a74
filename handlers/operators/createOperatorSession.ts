import type { Operators } from '../../core/capabilities/operators.ts';
import { ApiError } from '../../core/errors.ts';
import { loginAddress } from '../../core/operators/console-address.ts';
import { offerSession } from '../../core/operators/sessions.ts';
import { presentOperatorSession } from '../../core/present/operator-session.ts';
import type { Handler } from '../../http/contract.ts';

export const createOperatorSession: Handler<'createOperatorSession', Operators> = (call, reply, operators) =>
  call.commit(async (tx) => {
    if (!operators.hasConsole) throw new ApiError('NOT_FOUND', 'This server has no console (VALETKEY_CONSOLE=off).');
    const { session, token } = await offerSession(tx, operators, call.cause, call.body);
    return reply(201, {
      operator_session: presentOperatorSession(session),
      login_url: loginAddress(call.environment, token),
    });
  });
