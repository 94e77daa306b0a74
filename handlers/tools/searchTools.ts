import type { Tools } from '../../core/capabilities/tools.ts';
import { type FoundTool, findTools } from '../../core/discovery/find-tools.ts';
import { readWithin } from '../../core/discovery/read-within.ts';
import { presentHit } from '../../core/present/tool.ts';
import { maxBytesOf } from '../../core/present/tool-page.ts';
import type { Handler } from '../../http/contract.ts';
import { readSearchUser } from './tool-user.ts';
import { readToolView } from './tool-view.ts';

export const searchTools: Handler<'searchTools', Tools> = async (call, reply, tools) => {
  const { query, connector, limit = 10, format, detail, strict, ...user } = call.query;
  const view = readToolView({ format, detail, strict });
  const search = { query, connector, limit };
  const hits = await findTools(tools.store.read, tools, call.environment.id, readSearchUser(user), search);
  const show = async (hit: FoundTool) => ({ item: presentHit(hit, view), tool: hit.tool });
  const { items } = await readWithin(hits, show, maxBytesOf(view));
  return reply(200, { hits: items });
};
