import { expireRequests } from '../core/accounts/links/expire.ts';
import type { Refresher } from '../core/accounts/refresh.ts';
import type { Jobs } from '../core/jobs/jobs.ts';
import { createAuditArchive } from '../core/retention/audit-archive.ts';
import { createRetention } from '../core/retention/retention.ts';
import { auditDirectory } from '../http/config/config.ts';
import { createJobs, type JobsDeps } from './jobs.ts';
import { LINK_EXPIRY, type PeriodicJobDeps, periodicJobs } from './periodic-jobs.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';

export interface Background {
  /** Runs durable and periodic jobs. */
  readonly jobs: Jobs;
  readonly links: {
    /** Ends the links that have expired. */
    expire(): Promise<void>;
    /** Runs `expire` soon. Called when the request of a link was closed before its time of expiry. */
    expireSoon(): void;
  };
}

type Deps = JobsDeps &
  Omit<PeriodicJobDeps, 'retention' | 'refresher'> &
  Pick<Runtime, 'wait'> &
  Pick<Refresher, 'refreshNow'>;

/** Starts the work that runs independently of requests. */
export function startBackground({ config, choose, closing }: Setup, deps: Deps): Background {
  const archiveAudit = createAuditArchive({ ...deps, directory: auditDirectory(config) });
  const retention = createRetention({ ...deps, archiveAudit });
  const periodic = periodicJobs({ ...deps, refresher: deps, retention });
  const jobs = choose('jobs', () => createJobs(deps, periodic));
  jobs.start();
  closing.defer(jobs.stop);
  return {
    jobs,
    links: { expire: () => expireRequests(deps), expireSoon: () => jobs.soon(LINK_EXPIRY) },
  };
}
