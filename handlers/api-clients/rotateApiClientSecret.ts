import { LIFETIME } from '../../core/budgets.ts';
import type { Clients } from '../../core/capabilities/clients.ts';
import { presentApiClient } from '../../core/present/api-client.ts';
import { digestClientSecret, mintClientSecret } from '../../core/tokens/client-secret.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient, shownPrefix } from './api-client.ts';

export const rotateApiClientSecret: Handler<'rotateApiClientSecret', Clients> = (call, reply, clients) =>
  call.commit(async (tx) => {
    const environmentId = call.environment.id;
    const now = clients.now();
    const { id } = await requireApiClient(tx, environmentId, call.path.client_id, now);
    const secret = mintClientSecret(clients.random);
    const row = {
      id: clients.newId('sec'),
      digest: digestClientSecret(secret, clients.digester),
      prefix: shownPrefix(secret),
      createdAt: now,
    };
    const { overlap_seconds: seconds } = call.body;
    const overlapMs = seconds === undefined ? LIFETIME.secretOverlapMs : seconds * 1000;
    await tx.apiClients.rotate(environmentId, id, row, { now, overlapMs });
    const client = await requireApiClient(tx, environmentId, id, now);
    await clients.events.emit(tx, call.cause, {
      type: 'api_client.secret_rotated',
      subject: id,
      data: (show) => ({ api_client: show.apiClient(client) }),
    });
    return reply(200, { api_client: presentApiClient(client, client.secrets), client_secret: secret.reveal() });
  });
