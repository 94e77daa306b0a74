import { createKeepAlive, type KeepAliveTools } from '../core/accounts/keep-alive.ts';
import { type ExpireTools, expireRequests } from '../core/accounts/links/expire.ts';
import { publishHeads } from '../core/audit/publish-heads.ts';
import { BACKGROUND } from '../core/budgets.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { createToolFreshness, type FreshnessTools } from '../core/mcp/upstream/freshness.ts';
import type { Retention } from '../core/retention/retention.ts';
import type { Surroundings } from './surroundings.ts';

/** The periodic job that ends links that have expired. */
export const LINK_EXPIRY = 'link_expiry';

export type PeriodicNeeds = KeepAliveTools &
  ExpireTools &
  FreshnessTools & { retention: Retention } & Pick<Surroundings, 'log'>;

/** The periodic jobs of the server. */
export function periodicJobs(parts: PeriodicNeeds): PeriodicJob[] {
  const { log, retention } = parts;
  const keepAlive = createKeepAlive(parts);
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
      run: (signal) => expireRequests(parts, signal),
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
      run: createToolFreshness(parts).run,
    },
    {
      name: 'audit_heads',
      everyMs: BACKGROUND.auditHeadsMs,
      firstMs: BACKGROUND.auditHeadsFirstMs,
      run: (signal) => publishHeads(parts, signal),
    },
  ];
}
