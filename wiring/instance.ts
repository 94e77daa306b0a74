import { INSTANCE } from '../core/budgets.ts';
import { createHeartbeat } from '../core/instances/heartbeat.ts';
import {
  deregisterInstance,
  endLost,
  type Instance,
  registerSharedInstance,
  registerSoleInstance,
} from '../core/instances/instance.ts';
import { programVersion } from '../core/program-version.ts';
import type { Keys } from './keys.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

export interface Registration {
  /** The registration of this process in the database. */
  readonly instance: Instance;
  /** How many processes use the database, including this one. The number may be some seconds old. */
  liveInstances(): number;
}

/** Registers this process as one that uses the database, until the server stops. */
export async function registerInstance(
  { closing }: Pick<Setup, 'closing'>,
  parts: Pick<Runtime, 'now' | 'newId' | 'startProcessJob' | 'log'> &
    Pick<Storage, 'store' | 'isShared'> &
    Pick<Keys, 'keyIds'>,
): Promise<Registration> {
  const { store, isShared, now, startProcessJob, log } = parts;
  const register = isShared ? registerSharedInstance : registerSoleInstance;
  const instance = await register({ ...parts, version: programVersion() });
  const failure = 'the heartbeat of this instance was not written';
  const leave = () =>
    isShared ? deregisterInstance(instance, parts) : store.write((tx) => tx.instances.remove(instance.number));
  closing.defer(() => leave().catch((err) => log.warn({ err }, failure)));
  let live = isShared ? (await store.read.instances.list()).length : 1;
  const heartbeat = createHeartbeat(instance, parts);
  const beat = async () => {
    if (isShared) {
      const counted = await heartbeat();
      if (counted === null) return void setImmediate(endProcess);
      live = counted;
    } else await store.note((tx) => tx.instances.beat(instance.number, now()));
    const lost = await endLost(instance, parts);
    if (lost.executions + lost.keys > 0)
      log.warn(lost, 'executions and idempotency keys whose outcome could not be stored are now unknown');
  };
  startProcessJob({ name: 'heartbeat', everyMs: INSTANCE.beatEveryMs, run: beat, failure });
  return { instance, liveInstances: () => live };
}

/** Ends the process, because other servers have taken over its work. Its supervisor starts it again. */
function endProcess(): never {
  throw new Error(
    'this server did not report for some time, and other servers assume that it has ended: start it again',
  );
}
