import { type RevocationJobDeps, revocationJob } from '../core/accounts/revocation-job.ts';
import type { Instance } from '../core/instances/instance.ts';
import { createJobs as create, type JobDeps, type Jobs } from '../core/jobs/jobs.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { type DeliveryJobDeps, deliveryJob } from '../core/webhooks/delivery-job.ts';
import { redeliveryJob } from '../core/webhooks/redelivery-job.ts';
import { addJobMetrics } from './job-metrics.ts';
import type { Runtime } from './runtime.ts';

export type JobsDeps = RevocationJobDeps &
  DeliveryJobDeps &
  Omit<JobDeps, 'owner' | 'kinds' | 'periodic' | 'counted' | 'queue'> & {
    jobQueue: JobDeps['queue'];
    instance: Instance;
    metrics: Pick<Runtime['metrics'], 'job' | 'periodicJob' | 'gauges'>;
  };

/** Creates the engine of jobs with every kind of durable job, and with the periodic jobs that are given. */
export function createJobs(deps: JobsDeps, periodic: readonly PeriodicJob[]): Jobs {
  const { instance, metrics, jobQueue } = deps;
  const kinds = [revocationJob(deps), deliveryJob(deps), redeliveryJob(deps)];
  addJobMetrics(
    deps,
    kinds.map(({ name }) => name),
  );
  return create({
    ...deps,
    owner: instance.number,
    queue: jobQueue,
    kinds,
    periodic,
    counted: { job: metrics.job, periodic: metrics.periodicJob },
  });
}
