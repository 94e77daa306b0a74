import { createKeepAlive, type KeepAliveDeps } from '../core/accounts/keep-alive.ts';
import { type ExpireDeps, expireRequests } from '../core/accounts/links/expire.ts';
import { publishHeads } from '../core/audit/publish-heads.ts';
import { BACKGROUND } from '../core/budgets.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { createToolFreshness, type FreshnessDeps } from '../core/mcp/upstream/freshness.ts';
import type { Retention } from '../core/retention/retention.ts';
import type { Store } from '../db/store.ts';
import type { Runtime } from './runtime.ts';

/** The periodic job that ends links that have expired. */
export const LINK_EXPIRY = 'link_expiry';

export type PeriodicJobDeps = KeepAliveDeps &
  ExpireDeps &
  FreshnessDeps & { retention: Retention; store: Pick<Store, 'fold'> } & Pick<Runtime, 'log'>;

/** The periodic jobs of the server. */
export function periodicJobs(deps: PeriodicJobDeps): PeriodicJob[] {
  const { log, retention, store } = deps;
  const keepAlive = createKeepAlive(deps);
  return [
    {
      name: 'retention',
      everyMs: BACKGROUND.retentionMs,
      firstMs: BACKGROUND.retentionFirstMs,
      run: async (signal) => void (await retention.run(signal)),
    },
    {
      name: LINK_EXPIRY,
      everyMs: BACKGROUND.linksMs,
      firstMs: 0,
      run: (signal) => expireRequests(deps, signal),
    },
    {
      name: 'keep_alive',
      everyMs: BACKGROUND.keepAliveMs,
      firstMs: BACKGROUND.keepAliveFirstMs,
      async run(signal) {
        const { tried, renewed } = await keepAlive.run(signal);
        if (tried > 0) log.info({ tried, renewed }, 'idle accounts were refreshed');
      },
    },
    {
      name: 'tool_freshness',
      everyMs: BACKGROUND.toolListsMs,
      firstMs: BACKGROUND.toolListsMs,
      run: createToolFreshness(deps).run,
    },
    {
      name: 'audit_heads',
      everyMs: BACKGROUND.auditHeadsMs,
      firstMs: BACKGROUND.auditHeadsFirstMs,
      run: (signal) => publishHeads(deps, signal),
    },
    ...(store.fold ? [{ name: 'count_folding', everyMs: BACKGROUND.foldMs, firstMs: 0, run: store.fold }] : []),
  ];
}
