import type { Providers } from '../../core/capabilities/providers.ts';
import { presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider } from './custom-provider.ts';

export const getCustomProvider: Handler<'getCustomProvider', Providers> = async (call, reply, providers) => {
  const provider = await requireCustomProvider(providers.store.read, call.environment.id, call.path.identifier);
  return reply(200, { provider: presentCustomProvider(provider) });
};
