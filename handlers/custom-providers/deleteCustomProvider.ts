import type { Providers } from '../../core/capabilities/providers.ts';
import { deleteCustomProvider as remove } from '../../core/connections/custom.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider, toolsFor } from './custom-provider.ts';

export const deleteCustomProvider: Handler<'deleteCustomProvider', Providers> = (call, reply, providers) =>
  call.commit(async (tx) => {
    const { environment, path } = call;
    const provider = await requireCustomProvider(tx, environment.id, path.identifier);
    const disconnected = await remove(tx, toolsFor(environment, providers), environment.id, provider, call.cause);
    await providers.events.emit(tx, call.cause, {
      type: 'custom_provider.deleted',
      subject: provider.id,
      details: { accounts_disconnected: disconnected },
      data: (show) => ({ provider: show.provider(provider) }),
    });
    tx.afterCommit(() => {
      providers.links.expireSoon();
      providers.scrubStorage();
    });
    return reply(200, {});
  });
