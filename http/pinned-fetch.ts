import type { EnvironmentId } from '../db/store.ts';
import type { Deps } from './deps.ts';

/** The way out for protocol calls in the name of an environment: its own egress, to some origins alone. */
export function createPinnedFetch({ store, egressOf }: Pick<Deps, 'store' | 'egressOf'>) {
  return async (environmentId: EnvironmentId, origins: readonly string[]) => {
    const environment = await store.read.environments.get(environmentId);
    if (!environment) throw new Error(`the environment ${environmentId} does not exist`);
    return egressOf(environment).pinnedFetch(origins);
  };
}
