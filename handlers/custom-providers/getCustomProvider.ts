import { presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider } from './custom-provider.ts';

export const getCustomProvider: Handler<'getCustomProvider'> = async (call, reply, deps) => {
  const provider = await requireCustomProvider(deps.store.read, call.environment.id, call.path.identifier);
  return reply(200, { provider: presentCustomProvider(provider) });
};
