import type { Connections } from '../../core/capabilities/connections.ts';
import { changeSettings } from '../../core/connections/change-settings.ts';
import type { Handler } from '../../http/contract.ts';

export const disableConnection: Handler<'disableConnection', Connections> = (call, reply, connections) =>
  call.commit(async (tx) =>
    reply(200, { connection: await changeSettings(tx, connections, call, { enabled: false }) }),
  );
