import { createKeepAlive, type KeepAliveTools } from '../core/accounts/keep-alive.ts';
import { type ExpireTools, expireRequests } from '../core/accounts/links/expire.ts';
import { revocationJob } from '../core/accounts/revocation-job.ts';
import { BACKGROUND } from '../core/budgets.ts';
import { createJobs as create, type Jobs } from '../core/jobs/jobs.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { createToolFreshness, type FreshnessTools } from '../core/mcp/upstream/freshness.ts';
import { createDiscovery } from '../core/oauth/discovery.ts';
import type { Retention } from '../core/retention/retention.ts';
import type { Deps } from './deps.ts';
import { showJobs } from './job-metrics.ts';
import { createPinnedFetch } from './pinned-fetch.ts';

/** The periodic job that ends links whose time is over. */
export const LINK_EXPIRY = 'link_expiry';

export type JobParts = Pick<
  Deps,
  | 'store'
  | 'vault'
  | 'now'
  | 'random'
  | 'instance'
  | 'events'
  | 'egressOf'
  | 'scrubStorage'
  | 'log'
  | 'metrics'
  | 'jobQueue'
>;

export type PeriodicParts = KeepAliveTools &
  ExpireTools &
  FreshnessTools & { retention: Retention } & Pick<Deps, 'log'>;

/** Wires the engine of jobs with every kind of job, and with the periodic jobs that are given. */
export function createJobs(parts: JobParts, periodic: readonly PeriodicJob[]): Jobs {
  const { instance, metrics, jobQueue } = parts;
  const discovery = createDiscovery(parts.now);
  const revocation = revocationJob({ ...parts, discovery, fetchFor: createPinnedFetch(parts) });
  const kinds = [revocation];
  showJobs(
    parts,
    kinds.map(({ name }) => name),
  );
  return create({
    ...parts,
    owner: instance.number,
    queue: jobQueue,
    kinds,
    periodic,
    counted: { job: metrics.job, periodic: metrics.periodicJob },
  });
}

/** The work that the server does by itself, again and again. */
export function periodicJobs(parts: PeriodicParts): PeriodicJob[] {
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
  ];
}
