import type { Providers } from '../../core/capabilities/providers.ts';
import { updateCustomProvider as update } from '../../core/connections/custom.ts';
import { presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider, toolsFor } from './custom-provider.ts';

export const updateCustomProvider: Handler<'updateCustomProvider', Providers> = (call, reply, providers) =>
  call.commit(async (tx) => {
    const { environment, path, body } = call;
    const before = await requireCustomProvider(tx, environment.id, path.identifier);
    const { row, parked } = await update(
      tx,
      toolsFor(environment, providers),
      environment.id,
      before,
      body,
      call.cause,
    );
    await providers.events.emit(tx, call.cause, {
      type: 'custom_provider.updated',
      subject: row.id,
      details: { accounts_parked: parked },
      data: (show) => ({ provider: show.provider(row) }),
    });
    // Values that were public may have become secret, so their old copies are removed from the database files.
    tx.afterCommit(providers.scrubStorage);
    return reply(200, { provider: presentCustomProvider(row) });
  });
