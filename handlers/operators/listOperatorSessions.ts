import type { Operators } from '../../core/capabilities/operators.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentOperatorSession } from '../../core/present/operator-session.ts';
import type { Handler } from '../../http/contract.ts';

export const listOperatorSessions: Handler<'listOperatorSessions', Operators> = async (call, reply, operators) => {
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listOperatorSessions', filters: {} };
  const request = readPage(operators.sealedTokens, scope, call.query.page_token, call.query.page_size);
  const page = await operators.store.read.operatorSessions.list(environmentId, request);
  return reply(200, {
    operator_sessions: page.rows.map(presentOperatorSession),
    ...pageTokens(operators.sealedTokens, scope, page, operators.now()),
    total_size: page.total,
  });
};
