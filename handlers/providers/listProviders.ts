import type { Providers } from '../../core/capabilities/providers.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { presentConnector, presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

export const listProviders: Handler<'listProviders', Providers> = async (call, reply, providers) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listProviders', filters };
  const custom = await providers.store.read.customProviders.list(environmentId);
  const all = [...custom.map(presentCustomProvider), ...providers.catalogue.connectors().map(presentConnector)];
  const page = pageOfList(all.filter(fits), readPage(providers.sealedTokens, scope, token, size));
  return reply(200, {
    providers: page.rows,
    ...pageTokens(providers.sealedTokens, scope, page, providers.now()),
    total_size: page.total,
  });

  function fits(provider: Schemas['Provider']): boolean {
    const text = `${provider.identifier}\n${provider.display_name}\n${provider.description}`.toLowerCase();
    const isWanted = filters.is_custom === undefined || filters.is_custom === provider.is_custom;
    return isWanted && text.includes((filters.query ?? '').toLowerCase());
  }
};
