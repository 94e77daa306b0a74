import type { AccountRow, EnvironmentRow, Store } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';
import type { Cause, Events } from '../../events/events.ts';
import { type SyncDeps, syncProvider } from './sync-provider.ts';

export interface FreshnessDeps extends SyncDeps {
  store: Store;
  events: Events;
  log: { warn(fields: object, message: string): void };
}

const ACTOR = 'system';

/**
 * Keeps the stored tools of MCP servers up to date. `run` reads each list that it has not read for `listAgeMs`, with an
 * active account of the provider; without such an account, the list is skipped. When `refreshListsMs` have passed, the
 * remaining lists are left to the next run. A tool that its server has changed is flagged and not updated
 * automatically.
 */
export function createToolFreshness(deps: FreshnessDeps): { run(signal?: AbortSignal): Promise<void> } {
  const asked = new Map<string, number>();

  async function refresh(environment: EnvironmentRow, connector: string): Promise<void> {
    const { read } = deps.store;
    const filters = { provider: connector, status: 'ACTIVE' as const };
    const [first] = (await read.accounts.list(environment.id, filters, { size: 1 })).rows;
    const account = first && (await read.accounts.get(environment.id, first.id));
    if (!account) return;
    asked.set(`${environment.id} ${connector}`, deps.now());
    const cause: Cause = { environmentId: environment.id, actor: ACTOR, requestId: ACTOR };
    const order = { environment, connector, account: account as AccountRow, accept: false };
    const synced = await syncProvider(deps, order, cause, async () => {});
    if (!synced.ok) throw new Error(synced.error.message);
  }

  const lastAsked = (environmentId: string, connector: string) =>
    asked.get(`${environmentId} ${connector}`) ?? Number.NEGATIVE_INFINITY;

  /**
   * Returns the outdated lists in the order in which they are read: one list of each environment, then a second list of
   * each, and so on. So an environment with many slow servers does not use up the time of the others. Among the first
   * lists, the second lists and so on, the environment whose lists were not read for the longest time comes first.
   */
  async function outdated() {
    const found: { environment: EnvironmentRow; connector: string; rank: number; last: number }[] = [];
    for (const environment of await deps.store.read.environments.list()) {
      const providers = (await deps.store.read.customProviders.list(environment.id)).filter(({ isMcp }) => isMcp);
      const times = providers.map(({ identifier }) => lastAsked(environment.id, identifier));
      const last = Math.max(...times);
      const due = providers.filter((_, index) => deps.now() - (times[index] as number) >= MCP_UPSTREAM.listAgeMs);
      found.push(...due.map(({ identifier: connector }, rank) => ({ environment, connector, rank, last })));
    }
    return found.sort((a, b) => a.rank - b.rank || Number(a.last > b.last) - Number(a.last < b.last));
  }

  return {
    async run(signal) {
      const until = deps.now() + MCP_UPSTREAM.refreshListsMs;
      for (const { environment, connector } of await outdated()) {
        if (signal?.aborted || deps.now() >= until) return;
        await refresh(environment, connector).catch((err) =>
          deps.log.warn(
            { environment: environment.id, provider: connector, reason: (err as Error).message },
            'the tools of an MCP server could not be read',
          ),
        );
      }
    },
  };
}
