import type { EnvironmentId, Store } from '../db/store.ts';
import type { Outbound } from './outbound.ts';

interface PinnedFetchTools extends Pick<Outbound, 'egressOf'> {
  store: { readonly read: Pick<Store['read'], 'environments'> };
}

/** Protocol requests use the egress of their environment, and only reach the origins that are given. */
export function createPinnedFetch({ store, egressOf }: PinnedFetchTools): Outbound['fetchFor'] {
  return async (environmentId: EnvironmentId, origins: readonly string[]) => {
    const environment = await store.read.environments.get(environmentId);
    if (!environment) throw new Error(`the environment ${environmentId} does not exist`);
    return egressOf(environment).pinnedFetch(origins);
  };
}
