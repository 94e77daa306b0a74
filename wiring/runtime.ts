import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ByteBudget } from '../core/budgets/byte-budget.ts';
import { BODIES, JOBS } from '../core/budgets.ts';
import { createIds, type IdPrefix } from '../core/ids.ts';
import { createProcessJobs, type ProcessJob } from '../core/jobs/process-jobs.ts';
import { createRandom } from '../core/random.ts';
import { type Clock, createClock } from '../core/scheduling/clock.ts';
import { startTimer, type Timer } from '../core/scheduling/timers.ts';
import { createThreads, type Threads } from '../core/threads/threads.ts';
import { createLog, type Logger } from '../http/monitoring/log.ts';
import { createMetrics, type Metrics } from '../http/monitoring/metrics.ts';
import type { Setup } from './setup.ts';

/** The parts that depend on no other part. */
export interface Runtime {
  /** Milliseconds UTC. Processes that share a database follow its clock. */
  now(): number;
  /** The clock behind `now`. */
  readonly sharedClock: Clock;
  random(size: number): Buffer;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  newId(prefix: IdPrefix): string;
  /** Starts a job of this process. The job is stopped when the server stops. */
  startProcessJob(job: ProcessJob): Timer;
  readonly log: Logger;
  /** Also passes each later line of the log to this function. */
  teeLog(receive: (line: string) => void): void;
  readonly metrics: Metrics;
  /** The memory budget for the bodies of requests, calls and their responses. */
  readonly bodies: ByteBudget;
  /** The threads for work on untrusted data. */
  readonly threads: Threads;
}

/** Creates the clock, randomness, log, metrics, memory and threads. */
export function createRuntime({ config, choose, closing }: Setup): Runtime {
  let teeLog: Runtime['teeLog'] = () => {};
  const log = choose('log', () => {
    const output = createLog(config.logLevel, config.logFormat, config.place);
    closing.defer(output.end);
    teeLog = output.tee;
    return output.log;
  });
  const sharedClock = createClock();
  const now = choose('now', () => sharedClock.now);
  const random = choose('random', () => createRandom(randomBytes));
  const threads = choose('threads', createThreads);
  closing.defer(async () => {
    await Promise.all(Object.values(threads).map((pool) => pool.close()));
  });
  const bodies = choose('bodies', () => new ByteBudget(BODIES));
  const metrics = choose('metrics', () => createMetrics(config.place));
  metrics.gauge('valetkey_body_bytes', 'Bytes of bodies that are held in memory', () => bodies.used);
  const timers = choose('startTimer', () => startTimer);
  const startJob = createProcessJobs({ startTimer: timers, log, counted: metrics.periodicJob });
  return {
    now,
    sharedClock,
    random,
    wait: choose('wait', () => (ms) => sleep(ms)),
    newId: choose('newId', () => createIds(now, random)),
    startProcessJob(job) {
      const timer = startJob(job);
      closing.defer(() => timer.stop(JOBS.stopMs));
      return timer;
    },
    log,
    teeLog,
    metrics,
    bodies,
    threads,
  };
}
