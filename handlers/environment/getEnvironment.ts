import type { Environments } from '../../core/capabilities/environments.ts';
import { presentEnvironment } from '../../core/present/environment.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const getEnvironment: Handler<'getEnvironment', Environments> = async (call, reply, environments) => {
  const environment = await currentEnvironment(environments.store.read, call.environment.id);
  return reply(200, { environment: presentEnvironment(environment) });
};
