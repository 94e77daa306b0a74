import { INSTANCE, JOBS } from '../core/budgets.ts';
import { type Instance, registerOnly } from '../core/instances/instance.ts';
import { programVersion } from '../core/program-version.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';
import type { Surroundings } from './surroundings.ts';

/** Registers this process as the one that serves the database, until the server stops. */
export async function registerInstance(
  { closing }: Pick<Setup, 'closing'>,
  parts: Pick<Surroundings, 'now' | 'newId' | 'startTimer' | 'log'> & Pick<Storage, 'store'>,
): Promise<Instance> {
  const { store, now, startTimer, log } = parts;
  const instance = await registerOnly({ ...parts, version: programVersion() });
  const failed = (err: unknown) => log.warn({ err }, 'the heartbeat of this instance was not written');
  closing.defer(() => store.write((tx) => tx.instances.remove(instance.number)).catch(failed));
  const beating = startTimer(() => store.note((tx) => tx.instances.beat(instance.number, now())), {
    everyMs: INSTANCE.beatEveryMs,
    failed,
  });
  closing.defer(() => beating.stop(JOBS.stopMs));
  return instance;
}
