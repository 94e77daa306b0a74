import { createKeepAlive, type KeepAliveTools } from '../core/accounts/keep-alive.ts';
import { type ExpireTools, expireRequests } from '../core/accounts/links/expire.ts';
import { type RevocationJobTools, revocationJob } from '../core/accounts/revocation-job.ts';
import { BACKGROUND } from '../core/budgets.ts';
import type { Instance } from '../core/instances/instance.ts';
import { createJobs as create, type Jobs, type JobTools } from '../core/jobs/jobs.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { createToolFreshness, type FreshnessTools } from '../core/mcp/upstream/freshness.ts';
import type { Retention } from '../core/retention/retention.ts';
import { type DeliveryJobTools, deliveryJob } from '../core/webhooks/delivery-job.ts';
import { redeliveryJob } from '../core/webhooks/redelivery-job.ts';
import { showJobs } from './job-metrics.ts';
import type { Surroundings } from './surroundings.ts';

/** The periodic job that ends links that have expired. */
export const LINK_EXPIRY = 'link_expiry';

export type JobNeeds = RevocationJobTools &
  DeliveryJobTools &
  Omit<JobTools, 'owner' | 'kinds' | 'periodic' | 'counted' | 'queue'> & {
    jobQueue: JobTools['queue'];
    instance: Instance;
    metrics: Pick<Surroundings['metrics'], 'job' | 'periodicJob' | 'gauges'>;
  };

/** Creates the engine of jobs with every kind of durable job, and with the periodic jobs that are given. */
export function createJobs(parts: JobNeeds, periodic: readonly PeriodicJob[]): Jobs {
  const { instance, metrics, jobQueue } = parts;
  const kinds = [revocationJob(parts), deliveryJob(parts), redeliveryJob(parts)];
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
  ];
}
