import type { EnvironmentId } from '../../db/store.ts';
import type { RevocationDeps } from '../accounts/revocation-order.ts';
import type { ConfigurationDeps } from '../connections/configure.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import type { Lists } from './lists.ts';

/** Connections: providers as an environment has set them up. */
export type Connections = Lists &
  ConfigurationDeps &
  RevocationDeps & {
    fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  };
