import type { Egress } from '../core/net/egress.ts';
import type { EnvironmentId, EnvironmentRow, Store } from '../db/store.ts';

interface PinnedFetchDeps {
  egressOf(environment: EnvironmentRow): Egress;
  store: { readonly read: Pick<Store['read'], 'environments'> };
}

/**
 * Creates the fetch for protocol requests. It uses the egress of the environment and is restricted to the given
 * origins.
 */
export function createPinnedFetch({ store, egressOf }: PinnedFetchDeps) {
  return async (environmentId: EnvironmentId, origins: readonly string[]) => {
    const environment = await store.read.environments.get(environmentId);
    if (!environment) throw new Error(`the environment ${environmentId} does not exist`);
    return egressOf(environment).pinnedFetch(origins);
  };
}
