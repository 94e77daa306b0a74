import type { Events } from '../events/events.ts';
import type { Jobs as JobEngine } from '../jobs/jobs.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on durable jobs (background work that is stored in the database). */
export interface Jobs extends Lists {
  jobs: Pick<JobEngine, 'retry'>;
  events: Events;
}
