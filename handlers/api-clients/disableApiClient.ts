import type { Clients } from '../../core/capabilities/clients.ts';
import { removeSurplusClient } from '../../core/environments/client-space.ts';
import { presentApiClient } from '../../core/present/api-client.ts';
import type { Handler } from '../../http/contract.ts';
import { requireApiClient } from './api-client.ts';

export const disableApiClient: Handler<'disableApiClient', Clients> = (call, reply, clients) =>
  call.commit(async (tx) => {
    const environmentId = call.environment.id;
    const now = clients.now();
    const { id } = await requireApiClient(tx, environmentId, call.path.client_id, now);
    const isChanged = await tx.apiClients.disable(environmentId, id, now);
    const client = await requireApiClient(tx, environmentId, id, now);
    if (isChanged) {
      const removed = await removeSurplusClient(tx, environmentId);
      await clients.events.emit(tx, call.cause, {
        type: 'api_client.disabled',
        subject: id,
        ...(removed !== undefined && { auditOnly: { removed_client: removed } }),
        data: (show) => ({ api_client: show.apiClient(client) }),
      });
    }
    return reply(200, { api_client: presentApiClient(client, client.secrets) });
  });
