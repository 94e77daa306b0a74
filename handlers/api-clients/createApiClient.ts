import { presentApiClient } from '../../core/present/api-client.ts';
import { digestClientSecret, mintClientSecret } from '../../core/tokens/client-secret.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient, shownPrefix } from './api-client.ts';

export const createApiClient: Handler<'createApiClient'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const secret = mintClientSecret(deps.random);
    const id = deps.newId('cli');
    const createdAt = deps.now();
    await tx.apiClients.insert(
      call.environment.id,
      { id, name: call.body.name, scopes: call.body.scopes, createdAt },
      {
        id: deps.newId('sec'),
        digest: digestClientSecret(secret, deps.digester),
        prefix: shownPrefix(secret),
        createdAt,
      },
    );
    await deps.events.clientCreated(tx, call.cause, id, call.body.scopes);
    const client = await requireApiClient(tx, call.environment.id, id, createdAt);
    return reply(201, { api_client: presentApiClient(client, client.secrets), client_secret: secret.reveal() });
  });
