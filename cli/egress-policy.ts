import { interfaceAddresses } from '../core/net/own-addresses.ts';
import { EgressPolicy } from '../core/net/policy.ts';
import { parseEgressAllow, parseEndpointOverrides } from '../core/net/policy-settings.ts';
import type { EnvironmentRow } from '../db/store.ts';
import type { Config } from '../http/config/config.ts';
import { UsageError } from './usage-error.ts';

/**
 * Returns the egress policy that the server uses for the environment. Without an environment, it is the policy of
 * development environments. Only in these, the addresses of `egressAllow` may be reached and `endpointOverrides` apply.
 *
 * @throws UsageError if one of these settings is invalid
 */
export function policyOf(
  { egressAllow, endpointOverrides }: Config,
  kind: EnvironmentRow['kind'] = 'DEVELOPMENT',
): EgressPolicy {
  const ownAddresses = interfaceAddresses();
  if (kind !== 'DEVELOPMENT') return new EgressPolicy({ allow: [], overrides: [], ownAddresses });
  try {
    const [allow, overrides] = [parseEgressAllow(egressAllow), parseEndpointOverrides(endpointOverrides)];
    return new EgressPolicy({ allow, overrides, ownAddresses });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
