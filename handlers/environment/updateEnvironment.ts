import type { Environments } from '../../core/capabilities/environments.ts';
import { storeLogo } from '../../core/environments/brand.ts';
import { changeSettings } from '../../core/environments/settings.ts';
import { presentEnvironment } from '../../core/present/environment.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const updateEnvironment: Handler<'updateEnvironment', Environments> = async (call, reply, environments) => {
  const answer = await call.commit(async (tx) => {
    const before = await currentEnvironment(tx, call.environment.id);
    const settings = changeSettings(before, call.body);
    await tx.environments.setSettings(before.id, settings);
    await storeLogo(tx, before, call.body, environments.now());
    await environments.events.emit(tx, call.cause, {
      type: 'environment.updated',
      subject: before.id,
      details: { fields: Object.keys(call.body) },
      data: async (show) => ({ environment: await show.environment() }),
    });
    return reply(200, { environment: presentEnvironment({ ...before, settings }) });
  });
  environments.executionContents.settingsChanged(call.environment.id);
  return answer;
};
