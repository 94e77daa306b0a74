import { pageTokens, readPage } from '../../core/paging.ts';
import { presentApiClient } from '../../core/present/api-client.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient } from './api-client.ts';

export const listApiClients: Handler<'listApiClients'> = async (call, reply, deps) => {
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listApiClients', filters: {} };
  const request = readPage(deps.sealedTokens, scope, call.query.page_token, call.query.page_size);
  const now = deps.now();
  const page = await deps.store.read.apiClients.list(environmentId, request);
  const clients = await Promise.all(
    page.rows.map((row) => requireApiClient(deps.store.read, environmentId, row.id, now)),
  );
  return reply(200, {
    api_clients: clients.map((client) => presentApiClient(client, client.secrets)),
    ...pageTokens(deps.sealedTokens, scope, page, now),
    total_size: page.total,
  });
};
