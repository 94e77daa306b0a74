import { setTimeout as wait } from 'node:timers/promises';
import type { Refresher, RefreshTools } from '../core/accounts/refresh.ts';
import { createRefresher as create } from '../core/accounts/refresh.ts';
import type { Deps } from './deps.ts';

type Parts = Omit<RefreshTools, 'wait' | 'fetchFor'> & Pick<Deps, 'egressOf'>;

/** The refresher of accounts, on the real clock and the egress of each account's environment. */
export function createRefresher({ egressOf, ...tools }: Parts): Refresher {
  return create({
    ...tools,
    wait: (ms) => wait(ms, undefined, { ref: false }),
    fetchFor: async (environmentId, origins) => {
      const environment = await tools.store.read.environments.get(environmentId);
      if (!environment) throw new Error(`the environment ${environmentId} does not exist`);
      return egressOf(environment).pinnedFetch(origins);
    },
  });
}
