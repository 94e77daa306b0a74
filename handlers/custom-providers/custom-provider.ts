import type { CustomProviderTools } from '../../core/connections/custom.ts';
import { ApiError } from '../../core/errors.ts';
import type { CustomProviderRow, EnvironmentId, EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import type { Deps } from '../../http/contract.ts';

/** @throws ApiError NOT_FOUND; built-in connectors cannot be addressed here */
export async function requireCustomProvider(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  identifier: string,
): Promise<CustomProviderRow> {
  const row = await read.customProviders.get(environmentId, identifier);
  if (!row) throw new ApiError('NOT_FOUND', 'The custom provider does not exist.');
  return row;
}

/** The tools of the engine, with the egress policy of the environment. */
export function toolsFor(environment: EnvironmentRow, deps: Deps): CustomProviderTools {
  return {
    catalogue: deps.catalogue,
    vault: deps.vault,
    now: deps.now,
    newId: deps.newId,
    events: deps.events,
    judgeAddress: (url) => {
      const verdict = deps.egressOf(environment).check(url);
      return verdict.ok ? null : verdict.reason;
    },
  };
}
