import { presentEnvironment } from '../../core/present/environment.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const getEnvironment: Handler<'getEnvironment'> = async (call, reply, deps) => {
  const environment = await currentEnvironment(deps.store.read, call.environment.id);
  return reply(200, { environment: presentEnvironment(environment) });
};
