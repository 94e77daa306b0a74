import type { EnvironmentRow, Store } from '../../db/store.ts';
import type { ProviderChangeDeps } from '../connections/provider-change.ts';
import type { ToolValidationDeps } from '../discovery/custom-tools.ts';
import type { Events } from '../events/events.ts';
import type { SyncDeps } from '../mcp/upstream/sync-provider.ts';
import type { Egress } from '../net/egress.ts';
import type { ThreadPool } from '../threads/pool.ts';
import type { Lists } from './lists.ts';

/** Providers: those of the catalogue, the custom ones of an environment, and their tools. */
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
