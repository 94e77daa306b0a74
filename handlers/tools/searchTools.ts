import { findTools } from '../../core/discovery/find-tools.ts';
import type { Handler } from '../../http/contract.ts';
import { presentHit } from '../present/tool.ts';
import { readSearchUser } from './tool-user.ts';

export const searchTools: Handler<'searchTools'> = async (call, reply, deps) => {
  const { query, connector, limit = 10, format = 'native', detail = 'compact', ...user } = call.query;
  const question = { query, connector, limit };
  const hits = await findTools(deps.store.read, deps, call.environment.id, readSearchUser(user), question);
  return reply(200, { hits: hits.map((hit) => presentHit(hit, { format, detail })) });
};
