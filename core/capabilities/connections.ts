import type { EnvironmentId } from '../../db/store.ts';
import type { RevocationDeps } from '../accounts/revocation-order.ts';
import type { ConfigurationDeps } from '../connections/configure.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import type { Lists } from './lists.ts';

/**
 * The dependencies of the API operations on connections. A connection is a provider as an environment has set it up.
 */
export type Connections = Lists &
  ConfigurationDeps &
  RevocationDeps & {
    fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  };
