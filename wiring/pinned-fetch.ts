import type { EnvironmentId, Store } from '../db/store.ts';
import type { Outbound } from './outbound.ts';

interface PinnedFetchDeps extends Pick<Outbound, 'egressOf'> {
  store: { readonly read: Pick<Store['read'], 'environments'> };
}

/**
 * Creates the fetch for protocol requests. It uses the egress of the environment and is restricted to the given
 * origins.
 */
export function createPinnedFetch({ store, egressOf }: PinnedFetchDeps): Outbound['fetchFor'] {
  return async (environmentId: EnvironmentId, origins: readonly string[]) => {
    const environment = await store.read.environments.get(environmentId);
    if (!environment) throw new Error(`the environment ${environmentId} does not exist`);
    return egressOf(environment).pinnedFetch(origins);
  };
}
