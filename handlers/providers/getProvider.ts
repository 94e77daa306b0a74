import { ApiError } from '../../core/errors.ts';
import { presentConnector, presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';

export const getProvider: Handler<'getProvider'> = async (call, reply, deps) => {
  const { identifier } = call.path;
  const connector = deps.catalogue.connector(identifier);
  if (connector) return reply(200, { provider: presentConnector(connector) });
  const custom = await deps.store.read.customProviders.get(call.environment.id, identifier);
  if (!custom) throw new ApiError('NOT_FOUND', 'The provider does not exist.');
  return reply(200, { provider: presentCustomProvider(custom) });
};
