import type { Clients } from '../../core/capabilities/clients.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentApiClient } from '../../core/present/api-client.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient } from './api-client.ts';

export const listApiClients: Handler<'listApiClients', Clients> = async (call, reply, api) => {
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listApiClients', filters: {} };
  const request = readPage(api.sealedTokens, scope, call.query.page_token, call.query.page_size);
  const now = api.now();
  const page = await api.store.read.apiClients.list(environmentId, request);
  const clients = await Promise.all(
    page.rows.map((row) => requireApiClient(api.store.read, environmentId, row.id, now)),
  );
  return reply(200, {
    api_clients: clients.map((client) => presentApiClient(client, client.secrets)),
    ...pageTokens(api.sealedTokens, scope, page, now),
    total_size: page.total,
  });
};
