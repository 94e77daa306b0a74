import type { Providers } from '../../core/capabilities/providers.ts';
import type { CustomProviderDeps } from '../../core/connections/custom.ts';
import { requireFound } from '../../core/errors.ts';
import type { CustomProviderRow, EnvironmentId, EnvironmentRow, ReadRepositories } from '../../db/store.ts';

/** @throws ApiError NOT_FOUND, also for built-in connectors */
export async function requireCustomProvider(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  identifier: string,
): Promise<CustomProviderRow> {
  return requireFound(await read.customProviders.get(environmentId, identifier), `The custom provider ${identifier}`);
}

/** Returns the dependencies for changing providers, with the egress policy of the environment. */
export function toolsFor(environment: EnvironmentRow, providers: Providers): CustomProviderDeps {
  return {
    catalogue: providers.catalogue,
    vault: providers.vault,
    now: providers.now,
    newId: providers.newId,
    events: providers.events,
    jobQueue: providers.jobQueue,
    checkAddress: (url) => {
      const verdict = providers.egressOf(environment).check(url);
      return verdict.ok ? null : verdict.reason;
    },
  };
}
