import type { Jobs } from '../../core/jobs/jobs.ts';
import { wrap } from '../../wiring/overrides.ts';

/** The jobs of a server, which run only when a test calls `runDue`. */
export const manualJobs = wrap<Jobs>((jobs) => ({ ...jobs, start: () => {} }));
