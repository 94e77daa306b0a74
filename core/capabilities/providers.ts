import type { EnvironmentRow, Store } from '../../db/store.ts';
import type { ProviderChangeDeps } from '../connections/provider-change.ts';
import type { ToolValidationDeps } from '../discovery/custom-tools.ts';
import type { Events } from '../events/events.ts';
import type { SyncDeps } from '../mcp/upstream/sync-provider.ts';
import type { Egress } from '../net/egress.ts';
import type { ThreadPool } from '../threads/pool.ts';
import type { Lists } from './lists.ts';

/**
 * The dependencies of the API operations on providers and their tools. A provider is a built-in connector of the
 * catalogue or a custom provider of an environment.
 */
export type Providers = Lists &
  SyncDeps &
  ProviderChangeDeps &
  ToolValidationDeps & {
    store: Store;
    events: Events;
    newId(prefix: 'exec' | 'prv'): string;
    egressOf(environment: EnvironmentRow): Egress;
    threads: { short: ThreadPool; imports: ThreadPool };
    links: { expireSoon(): void };
    scrubStorage(): void;
  };
