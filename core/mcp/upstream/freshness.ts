import type { AccountRow, EnvironmentRow, Store } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';
import type { Cause, Events } from '../../events/events.ts';
import { type SyncTools, syncProvider } from './sync-provider.ts';

export interface FreshnessTools extends SyncTools {
  store: Store;
  events: Events;
  log: { warn(fields: object, message: string): void };
}

const ACTOR = 'system';

/**
 * Keeps the stored tools of MCP servers up to date: it reads an outdated list again, with a working account. A tool
 * that its server has changed is flagged and not updated automatically.
 */
export function createToolFreshness(tools: FreshnessTools): { run(signal?: AbortSignal): Promise<void> } {
  const asked = new Map<string, number>();

  async function refresh(environment: EnvironmentRow, connector: string): Promise<void> {
    const { read } = tools.store;
    const filters = { provider: connector, status: 'ACTIVE' as const };
    const [first] = (await read.accounts.list(environment.id, filters, { size: 1 })).rows;
    const account = first && (await read.accounts.get(environment.id, first.id));
    if (!account) return;
    asked.set(`${environment.id} ${connector}`, tools.now());
    const cause: Cause = { environmentId: environment.id, actor: ACTOR, requestId: ACTOR };
    const order = { environment, connector, account: account as AccountRow, accept: false };
    const synced = await syncProvider(tools, order, cause, async () => {});
    if (!synced.ok) throw new Error(synced.error.message);
  }

  return {
    async run(signal) {
      for (const environment of await tools.store.read.environments.list()) {
        for (const { identifier, isMcp } of await tools.store.read.customProviders.list(environment.id)) {
          if (signal?.aborted) return;
          const age = tools.now() - (asked.get(`${environment.id} ${identifier}`) ?? Number.NEGATIVE_INFINITY);
          if (!isMcp || age < MCP_UPSTREAM.listAgeMs) continue;
          await refresh(environment, identifier).catch((err) =>
            tools.log.warn({ provider: identifier, reason: (err as Error).message }, 'tools were not read'),
          );
        }
      }
    },
  };
}
