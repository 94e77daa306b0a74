import type { Environments } from '../../core/capabilities/environments.ts';
import { presentServerSettings } from '../../core/present/server-settings.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const getServerSettings: Handler<'getServerSettings', Environments> = async (call, reply, environments) => {
  const { store, serverSettings } = environments;
  const { kind } = await currentEnvironment(store.read, call.environment.id);
  return reply(200, { server_settings: presentServerSettings(await serverSettings(kind)) });
};
