import {
  type JobClaim,
  type JobRow,
  StorageError,
  type Store,
  type Transaction,
  type WaitingLane,
} from '../../db/store.ts';
import { JOBS } from '../budgets.ts';
import { Lanes, type ReleaseSlot } from '../scheduling/lanes.ts';
import { type AttemptDeps, attempt, jobOf, SERVER_FAILED } from './attempt.ts';
import { nextAttemptAt } from './backoff.ts';
import type { Attempted, AttemptOutcome, JobKind, JobOutcome } from './job-kind.ts';

export interface RunnerDeps extends AttemptDeps {
  store: Pick<Store, 'read' | 'shareReads' | 'write' | 'note'>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** The number of this instance. */
  owner: number;
  kinds: readonly JobKind[];
  /** Called with the outcome of each attempt. */
  counted(kind: string, outcome: 'done' | 'failed' | 'retry'): void;
  /** Called when a payload was removed from the database. */
  scrubStorage(): void;
  /** Called when more attempts may be possible. @param ms how soon to look for them */
  wake(ms: number): void;
}

export interface JobRunner {
  /**
   * Starts due jobs for which there is a slot. Each call goes through a limited number of lanes of each kind, and the
   * next call continues after them. A lane is a queue of jobs, of which only a limited number run at the same time.
   *
   * @param lanes `all lanes`: goes through every lane, from the first one
   * @returns how many attempts it has started
   */
  look(lanes?: 'all lanes'): Promise<number>;
  isBusy(): boolean;
  /** Resolves when no attempt is running. */
  idle(): Promise<void>;
}

/** An outcome that could not be stored yet. */
interface Unsettled {
  row: JobRow;
  outcome: Attempted;
}

const ABANDONED = 'The server ended during the attempt.';
const { total: TOTAL, lanesPerLook: LANES, abandonedPerLook: ABANDONED_ROWS } = JOBS;

/**
 * Runs the jobs in the database. Each job is claimed by one instance (server process) at a time. A job can run more
 * than once: it is attempted again if its outcome was not stored, for example because its instance ended. Jobs of
 * unknown kinds are ignored.
 *
 * @param stopping is aborted when the server stops: running attempts are aborted, and the next instance makes them
 * again
 */
export function createJobRunner(deps: RunnerDeps, stopping: AbortSignal): JobRunner {
  const { store, now, random, owner, log, counted, scrubStorage, wake } = deps;
  const kinds = new Map(deps.kinds.map((kind) => [kind.name, kind]));
  const shared = new Lanes({ total: TOTAL, perLane: placesIn });
  const lanesOf = new Map(
    deps.kinds.map(({ name, total }) => [name, total === undefined ? shared : new Lanes({ total, perLane: placesIn })]),
  );
  /** The running attempts, by the id of their job. */
  const underWay = new Map<string, Promise<void>>();
  const unsettled = new Map<string, Unsettled>();
  /**
   * Until this time, a claim that failed here may turn out to be committed, because the connection to the database may
   * have been lost after the commit.
   */
  let mayBeClaimedUntil = Number.NEGATIVE_INFINITY;
  /** Where the next pass continues, by kind. */
  const places = new Map<string, WaitingLane>();

  function placesIn(name: string): number {
    const { perLane = 0 } = kinds.get(kindOf(name)) ?? {};
    return typeof perLane === 'number' ? perLane : perLane(laneOf(name));
  }

  async function begin(kind: JobKind, lane: WaitingLane): Promise<number> {
    const leaves: ReleaseSlot[] = [];
    const lanes = lanesOf.get(kind.name) ?? shared;
    for (let leave = lanes.tryEnter(nameOf(lane)); leave; leave = lanes.tryEnter(nameOf(lane))) leaves.push(leave);
    if (leaves.length === 0) return 0;
    let rows: JobRow[] = [];
    try {
      const { environmentId, lane: name } = lane;
      rows = await claim({ kind: kind.name, environmentId, lane: name, owner, now: now(), limit: leaves.length });
    } finally {
      for (const leave of leaves.splice(rows.length)) leave();
    }
    for (const [index, row] of rows.entries()) {
      const work = workOn(kind, row).finally(() => {
        leaves[index]?.();
        if (underWay.get(row.id) === work) underWay.delete(row.id);
        wake(JOBS.nextMs);
      });
      underWay.set(row.id, work);
    }
    return rows.length;
  }

  async function claim(wanted: JobClaim): Promise<JobRow[]> {
    let rows: JobRow[] = [];
    try {
      // The claim need not be durable: if a power failure undoes it, the job is claimed again, and a job can run twice.
      await store.note(async (tx) => {
        rows = await tx.jobQueue.claim(wanted);
      });
      return rows;
    } catch (error) {
      mayBeClaimedUntil = now() + JOBS.lostClaimMs;
      throw error;
    }
  }

  async function workOn(kind: JobKind, row: JobRow): Promise<void> {
    await settleOrKeep({ row, outcome: await attempt(deps, kind, row, stopping) });
  }

  /**
   * Stores an outcome, or keeps it in memory if the database fails: the outcome is known, and the job must not run
   * again because of the failure. The job is retried only if the attempt's own data can never be stored.
   */
  async function settleOrKeep(end: Unsettled): Promise<void> {
    unsettled.delete(end.row.id);
    try {
      await settle(end);
    } catch (err) {
      log.error({ job: end.row.id, kind: end.row.kind, err }, 'the outcome of a job could not be stored yet');
      const isLasting = end.outcome.store !== undefined && !(err instanceof StorageError);
      unsettled.set(end.row.id, isLasting ? { row: end.row, outcome: { kind: 'retry', reason: SERVER_FAILED } } : end);
    }
  }

  /** Stores the outcome of an attempt and all that the attempt has to store, in one transaction. */
  async function settle({ row, outcome: { store: storeResult, ...outcome } }: Unsettled): Promise<void> {
    const settled = await store.write(async (tx) => {
      const final = storeResult ? await storeResult(tx) : outcome;
      await conclude(tx, row, final);
      return final.kind;
    });
    counted(row.kind, settled);
  }

  async function conclude(tx: Transaction, row: JobRow, outcome: AttemptOutcome): Promise<void> {
    const { id, attempts, giveUpAt } = row;
    const kind = kinds.get(row.kind);
    const at = now();
    if (outcome.kind !== 'retry') return end(tx, row, outcome, at);
    const { reason, retryAfterMs } = outcome;
    const isLast = kind !== undefined && !stopping.aborted && at >= giveUpAt;
    if (isLast) return end(tx, row, { kind: 'failed', reason: `${kind.givenUp} ${reason}` }, at);
    const isNow = stopping.aborted || kind === undefined;
    const runAt = isNow ? at : nextAttemptAt(kind, { attempts, giveUpAt }, { at, random, retryAfterMs });
    const current = { id, attempts, owner: row.owner as number };
    await tx.jobQueue.again(current, { runAt, reason, at });
  }

  /** Ends a job, unless another attempt has claimed the job since. */
  async function end(tx: Transaction, row: JobRow, outcome: JobOutcome, at: number): Promise<void> {
    const { id, attempts } = row;
    const current = { id, attempts, owner: row.owner as number };
    const isDone = outcome.kind === 'done';
    const isCurrent = isDone
      ? await tx.jobQueue.done(current, { ...outcome, at })
      : await tx.jobQueue.fail(current, { ...outcome, at });
    if (!isCurrent) return;
    const kind = kinds.get(row.kind);
    await kind?.ended(tx, jobOf(row), outcome);
    if (isDone && !kind?.hasNoPayload) tx.afterCommit(scrubStorage);
  }

  async function lookAt(kind: JobKind, limit: number): Promise<number> {
    let begun = 0;
    for (let count = 0; count < limit && !stopping.aborted; count++) {
      const lane = await store.read.jobQueue.nextLane(kind.name, places.get(kind.name));
      if (!lane) {
        places.delete(kind.name);
        return begun;
      }
      places.set(kind.name, lane);
      if (lane.runAt <= now()) begun += await begin(kind, lane);
    }
    wake(0);
    return begun;
  }

  async function freeAbandoned(): Promise<void> {
    for (const row of await store.read.jobQueue.abandoned(ABANDONED_ROWS)) {
      await settle({ row, outcome: { kind: 'retry', reason: ABANDONED } });
    }
  }

  /** Releases the jobs that the database assigns to this instance although the instance is not running them. */
  async function freeLost(): Promise<void> {
    if (now() > mayBeClaimedUntil) return;
    // If an attempt ends after this read, the row is not the current one any more, and nothing is changed.
    for (const row of await store.read.jobQueue.owned(owner)) {
      if (underWay.has(row.id) || unsettled.has(row.id)) continue;
      await settle({ row, outcome: { kind: 'retry', reason: ABANDONED } });
    }
  }

  return {
    async look(lanes) {
      void store.shareReads();
      if (lanes) places.clear();
      // Iterates over a copy, because an outcome that still cannot be stored is added again.
      for (const end of [...unsettled.values()]) await settleOrKeep(end);
      await freeAbandoned();
      await freeLost();
      let begun = 0;
      for (const kind of kinds.values()) begun += await lookAt(kind, lanes ? Number.POSITIVE_INFINITY : LANES);
      return begun;
    },
    isBusy: () => underWay.size > 0,
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}

function nameOf({ kind, environmentId, lane }: WaitingLane): string {
  return `${kind} ${environmentId} ${lane}`;
}

function kindOf(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

function laneOf(name: string): string {
  return name.split(' ').slice(2).join(' ');
}
