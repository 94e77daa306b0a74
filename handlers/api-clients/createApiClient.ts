import type { Clients } from '../../core/capabilities/clients.ts';
import { requireApiClientSpace } from '../../core/environments/client-space.ts';
import { presentApiClient } from '../../core/present/api-client.ts';
import { digestClientSecret, mintClientSecret } from '../../core/tokens/client-secret.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient, shownPrefix } from './api-client.ts';

export const createApiClient: Handler<'createApiClient', Clients> = (call, reply, clients) =>
  call.commit(async (tx) => {
    await requireApiClientSpace(tx, call.environment.id);
    const secret = mintClientSecret(clients.random);
    const id = clients.newId('cli');
    const createdAt = clients.now();
    await tx.apiClients.insert(
      call.environment.id,
      { id, name: call.body.name, scopes: call.body.scopes, createdAt },
      {
        id: clients.newId('sec'),
        digest: digestClientSecret(secret, clients.digester),
        prefix: shownPrefix(secret),
        createdAt,
      },
    );
    const client = await requireApiClient(tx, call.environment.id, id, createdAt);
    await clients.events.emit(tx, call.cause, {
      type: 'api_client.created',
      subject: id,
      auditOnly: { scopes: call.body.scopes },
      data: (show) => ({ api_client: show.apiClient(client) }),
    });
    return reply(201, { api_client: presentApiClient(client, client.secrets), client_secret: secret.reveal() });
  });
