import { JOBS } from '../core/budgets.ts';
import type { JobState } from '../db/store.ts';
import type { Runtime } from './runtime.ts';
import type { Storage } from './storage.ts';

const SHOWN: Record<Exclude<JobState, 'DONE'>, string> = { WAITING: 'waiting', RUNNING: 'running', FAILED: 'failed' };
const STATES = Object.keys(SHOWN) as (keyof typeof SHOWN)[];

type Deps = { metrics: Pick<Runtime['metrics'], 'gauges'> } & Pick<Runtime, 'now'> & {
    store: Pick<Storage['store'], 'read'>;
  };

/**
 * Adds metrics of the jobs in the database: their number by kind and state, and by kind how long the waiting job that
 * became due first has been due.
 */
export function addJobMetrics({ metrics, store, now }: Deps, kinds: string[]): void {
  const { jobQueue } = store.read;
  const tally = (kind: string, state: keyof typeof SHOWN) => jobQueue.tally(kind, state, JOBS.counted);
  metrics.gauges(
    'valetkey_jobs',
    `Jobs by kind and state: waiting, running or failed; a number above ${JOBS.counted} is shown as ${JOBS.counted}`,
    ['kind', 'state'],
    () =>
      Promise.all(
        kinds.flatMap((kind) =>
          STATES.map(async (state) => {
            const { total: value } = await tally(kind, state);
            return { labels: { kind, state: SHOWN[state] }, value };
          }),
        ),
      ),
  );
  metrics.gauges(
    'valetkey_jobs_overdue_seconds',
    'How long the waiting job that is due first has been due, by kind; 0 when none is due',
    ['kind'],
    () =>
      Promise.all(
        kinds.map(async (kind) => {
          const { firstRunAt } = await tally(kind, 'WAITING');
          return { labels: { kind }, value: firstRunAt === null ? 0 : Math.max(0, now() - firstRunAt) / 1000 };
        }),
      ),
  );
}
