import { type RevocationJobTools, revocationJob } from '../core/accounts/revocation-job.ts';
import type { Instance } from '../core/instances/instance.ts';
import { createJobs as create, type Jobs, type JobTools } from '../core/jobs/jobs.ts';
import type { PeriodicJob } from '../core/jobs/periodic.ts';
import { type DeliveryJobTools, deliveryJob } from '../core/webhooks/delivery-job.ts';
import { redeliveryJob } from '../core/webhooks/redelivery-job.ts';
import { showJobs } from './job-metrics.ts';
import type { Surroundings } from './surroundings.ts';

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
