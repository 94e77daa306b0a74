import type { Providers } from '../../core/capabilities/providers.ts';
import { requireFound } from '../../core/errors.ts';
import { presentConnector, presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';

export const getProvider: Handler<'getProvider', Providers> = async (call, reply, providers) => {
  const { identifier } = call.path;
  const connector = providers.catalogue.connector(identifier);
  if (connector) return reply(200, { provider: presentConnector(connector, call.environment.baseUrl) });
  const custom = requireFound(
    await providers.store.read.customProviders.get(call.environment.id, identifier),
    `The provider ${identifier}`,
  );
  return reply(200, { provider: presentCustomProvider(custom) });
};
