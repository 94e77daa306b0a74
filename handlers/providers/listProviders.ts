import type { Providers } from '../../core/capabilities/providers.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { type ListedProvider, listedConnector, listedCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';

export const listProviders: Handler<'listProviders', Providers> = async (call, reply, providers) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listProviders', filters };
  const custom = await providers.store.read.customProviders.list(environmentId);
  const { baseUrl } = call.environment;
  const builtIn = providers.catalogue.connectors().map((connector) => listedConnector(connector, baseUrl));
  const all = [...custom.map(listedCustomProvider), ...builtIn];
  const page = pageOfList(all.filter(fits), readPage(providers.sealedTokens, scope, token, size));
  return reply(200, {
    providers: page.rows.map(({ present }) => present()),
    ...pageTokens(providers.sealedTokens, scope, page, providers.now()),
    total_size: page.total,
  });

  function fits({ text, isCustom }: ListedProvider): boolean {
    const isWanted = filters.is_custom === undefined || filters.is_custom === isCustom;
    return isWanted && text.toLowerCase().includes((filters.query ?? '').toLowerCase());
  }
};
