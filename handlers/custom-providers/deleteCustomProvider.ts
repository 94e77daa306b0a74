import { deleteCustomProvider as remove } from '../../core/connections/custom.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider, toolsFor } from './custom-provider.ts';

export const deleteCustomProvider: Handler<'deleteCustomProvider'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const { environment, path } = call;
    const provider = await requireCustomProvider(tx, environment.id, path.identifier);
    const disconnected = await remove(tx, toolsFor(environment, deps), environment.id, provider);
    await deps.events.providerDeleted(tx, call.cause, provider.id, disconnected);
    tx.afterCommit(() => {
      deps.links.expireSoon();
      deps.revocations.soon();
      deps.scrubStorage();
    });
    return reply(200, {});
  });
