import { randomBytes } from 'node:crypto';
import type { JobKind } from '../../../core/jobs/job-kind.ts';
import { createJobs, type JobDeps, type Jobs } from '../../../core/jobs/jobs.ts';
import { createJobQueue, type JobQueue } from '../../../core/jobs/queue.ts';
import { addKeyChecks, openTestStore, type TestStore } from '../../db/support.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { NEW, ringOf, vaultOf } from '../vault/support.ts';

export const SECOND = 1000;

export interface JobWorld {
  test: TestStore;
  clock: TestClock;
  queue: JobQueue;
  /** The logged lines. */
  lines: { text: string; [field: string]: unknown }[];
  /** The counted outcomes, as `kind outcome`. */
  counts: string[];
  scrubs(): number;
  /** Adds a job. @returns its id */
  add(lane: string, payload?: object, kind?: string): Promise<string>;
  get(id: string): ReturnType<TestStore['store']['read']['jobs']['get']>;
  /** Creates an engine with its own instance. It starts no jobs by itself. */
  engine(over?: Partial<JobDeps>): Promise<Jobs & { owner: number }>;
  end(): Promise<void>;
}

/** A kind of job whose behaviour the test defines. */
export function kindOf(run: JobKind['run'], over: Partial<JobKind> = {}): JobKind {
  return {
    name: 'post',
    perLane: 4,
    attemptMs: 90 * SECOND,
    firstDelayMs: 10 * SECOND,
    longestDelayMs: 100 * SECOND,
    giveUpAfterMs: 1000 * SECOND,
    givenUp: 'Given up.',
    run,
    ended: async () => {},
    ...over,
  };
}

export async function startJobWorld(): Promise<JobWorld> {
  const clock = testClock();
  const test = await openTestStore({ now: clock.now });
  await addKeyChecks(test.store, NEW);
  const vault = vaultOf(ringOf(NEW));
  const queue = createJobQueue({ vault, now: clock.now, newId: test.newId });
  const lines: JobWorld['lines'] = [];
  const counts: string[] = [];
  let scrubs = 0;
  let instances = 0;
  const counted = (name: string, outcome: string) => void counts.push(`${name} ${outcome}`);
  return {
    test,
    clock,
    queue,
    lines,
    counts,
    scrubs: () => scrubs,
    add: (lane, payload = {}, kind = 'post') => {
      const order = { environmentId: test.env, kind, lane, subjectId: 'ca_1', giveUpAfterMs: 1000 * SECOND };
      return test.store.write((tx) => queue.enqueue(tx, order, payload));
    },
    get: (id) => test.store.read.jobs.get(test.env, id),
    async engine(over = {}) {
      const owner = await test.register(`inst_${++instances}`);
      const jobs = createJobs({
        store: test.store,
        vault,
        now: clock.now,
        random: randomBytes,
        owner,
        queue,
        kinds: [],
        periodic: [],
        counted: { job: counted, periodic: counted },
        scrubStorage: () => {
          scrubs++;
        },
        log: { error: (fields, text) => void lines.push({ ...fields, text }) },
        ...over,
      });
      return { ...jobs, owner };
    },
    end: test.end,
  };
}

/** Runs the due jobs once, without waiting for the end. This run fails when the test closes its store. */
export function startPass(engine: { runDue(): Promise<void> }): void {
  engine.runDue().catch(() => {});
}
