import type { Events } from '../events/events.ts';
import type { Jobs as JobEngine } from '../jobs/jobs.ts';
import type { Lists } from './lists.ts';

/** The API of durable jobs. */
export interface Jobs extends Lists {
  jobs: Pick<JobEngine, 'retry'>;
  events: Events;
}
