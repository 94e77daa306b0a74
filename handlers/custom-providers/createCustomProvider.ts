import type { Providers } from '../../core/capabilities/providers.ts';
import { createCustomProvider as create } from '../../core/connections/custom.ts';
import { presentCustomProvider } from '../../core/present/provider.ts';
import type { Handler } from '../../http/contract.ts';
import { toolsFor } from './custom-provider.ts';

export const createCustomProvider: Handler<'createCustomProvider', Providers> = (call, reply, providers) =>
  call.commit(async (tx) => {
    const provider = await create(tx, toolsFor(call.environment, providers), call.environment.id, call.body);
    await providers.events.emit(tx, call.cause, {
      type: 'custom_provider.created',
      subject: provider.id,
      data: (show) => ({ provider: show.provider(provider) }),
    });
    return reply(201, { provider: presentCustomProvider(provider) });
  });
