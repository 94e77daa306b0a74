import { STORAGE } from '../../core/budgets.ts';
import type { CheckpointThread } from './checkpoint-thread.ts';
import type { Durability } from './durability.ts';
import { isFatal, translateError } from './errors.ts';
import type { Client } from './open.ts';

/** Limits in frames of the write-ahead log; each frame contains a page of 4 KiB. */
export interface LogBounds {
  /** How many frames are moved into the main file in one step. */
  piece: number;
  /** From this length on, the log is moved completely, so that it starts again from the beginning. */
  length: number;
  /** The last step, which moves all frames that are left, is made when at most this many are left. */
  lastPiece: number;
  /**
   * From this size on, a thread moves the log. The log becomes that long if another process reads from it, or if
   * syncing the main file is slow.
   */
  backlog: number;
}

const LOG_BOUNDS: LogBounds = {
  piece: STORAGE.pieceFrames,
  length: STORAGE.logFrames,
  lastPiece: STORAGE.lastPieceFrames,
  backlog: STORAGE.backlogFrames,
};

export interface Checkpointer {
  /** Commits with the given function, and moves a part of the log if it is time to. */
  around(commit: () => void): void;
  /**
   * Moves the whole log into the main file and truncates it, so that it contains no deleted or replaced data. It does
   * not wait for locks.
   *
   * @param touch commits a change of one page, because parts of the log are moved together with commits
   * @param endReads ends the reads of this process. It is called before the log is measured or truncated, because
   * SQLite does neither within a transaction
   * @returns false if another process reads from the log or is writing; try again later
   * @throws SqliteError
   */
  empty(touch: () => Promise<unknown>, endReads: () => void): Promise<boolean>;
  /**
   * Returns the error of a failed sync of the main file, or of another failure after which no write can be trusted any
   * more; otherwise null.
   */
  failure(): Error | null;
  /** Resolves when nothing is being moved or synced. */
  idle(): Promise<void>;
}

export interface CheckpointDeps {
  /** The connection that commits and makes checkpoints. */
  writer: Client;
  /** A connection that is only used by the checkpointer. */
  pin: Client;
  /** Syncs the main file. */
  main: Durability;
  thread: CheckpointThread;
  /** Called once after a failure that makes all writes unreliable. */
  failed(error: Error): void;
}

/** A short log is measured only after every eighth commit. */
const LOOK_EVERY = 8;
/** The maximum number of steps before the last one. If writes are faster than the steps, the last step is larger. */
const MAX_PIECES = 3;

/**
 * Keeps the log short without blocking the event loop while the main file is synced, which takes as long as a hundred
 * requests.
 *
 * SQLite does not sync the main file in a checkpoint that cannot reach the end of the log, because the log still has
 * its pages. So a second connection opens a read at the current end of the log before a commit. The checkpoint after
 * the commit stops there, and the main file is then synced outside of the event loop. This is repeated until the rest
 * is so small that a complete checkpoint, including SQLite's own sync before the log starts again, takes little time.
 * This module does not change the order of SQLite's syncs.
 */
export function createCheckpointer(
  { writer, pin, main, thread, failed }: CheckpointDeps,
  { piece, length, lastPiece, backlog }: LogBounds = LOG_BOUNDS,
): Checkpointer {
  // Disabled, because SQLite would move a log of any length within a commit.
  writer.pragma('wal_autocheckpoint = 0');
  const size = writer.prepare('pragma wal_checkpoint(noop)').raw();
  const checkpoint = writer.prepare('pragma wal_checkpoint(passive)').raw();
  const truncate = writer.prepare('pragma wal_checkpoint(truncate)').raw();
  const [begin, place, end] = [pin.prepare('begin'), pin.prepare('pragma user_version'), pin.prepare('commit')];
  /** What to do with the next commit. */
  let step: 'nothing' | 'piece' | 'end' = 'nothing';
  let endFrom = length;
  let commits = 0;
  /** How many steps were made since the log became long enough to be moved completely. */
  let pieces = 0;
  let ending = false;
  let moving = Promise.resolve();
  let isMoving = false;
  let syncing = Promise.resolve();
  let isSyncing = false;
  let failure: Error | null = null;

  /** Returns how many frames the log has, and how many of them are not in the main file yet. */
  function measure(statement: typeof size): { frames: number; moved: number; left: number } {
    const [, frames, moved] = statement.get() as [busy: number, frames: number, moved: number];
    return { frames, moved, left: frames - moved };
  }

  /** Decides what to do with the next commit. The log can only be measured between two transactions. */
  function decide(): void {
    if (failure || isMoving || (!ending && ++commits % LOOK_EVERY !== 0)) return;
    const { frames, left } = measure(size);
    if (left >= backlog) {
      moveBacklog();
      return;
    }
    thread.end().catch(noteFailure);
    if (isSyncing) return;
    ending = frames >= endFrom;
    if (ending) step = left > lastPiece && pieces < MAX_PIECES ? 'piece' : 'end';
    else if (left >= piece) step = 'piece';
  }

  function hold(): void {
    begin.run();
    place.get();
  }

  function letGo(): void {
    if (pin.inTransaction) end.run();
  }

  function movePiece(): void {
    if (ending) pieces++;
    checkpoint.get();
    syncMain();
  }

  function syncMain(): void {
    if (isSyncing) return;
    isSyncing = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    syncing = promise;
    main.sync((cause) => {
      isSyncing = false;
      if (cause) fail(cause);
      resolve();
    });
  }

  function moveEnd(): void {
    pieces = 0;
    ending = false;
    const { frames, left } = measure(checkpoint);
    // If another process still reads from the log, this is tried again later.
    endFrom = left === 0 ? length : frames + piece;
  }

  function moveBacklog(): void {
    step = 'nothing';
    isMoving = true;
    moving = thread
      .move()
      .catch(noteFailure)
      .then(() => {
        isMoving = false;
        syncMain();
      });
  }

  function noteFailure(cause: unknown): void {
    const error = translateError(cause);
    if (isFatal(error)) fail(error as Error);
  }

  function fail(error: Error): void {
    if (failure) return;
    failure = error;
    failed(error);
  }

  /** Runs a part of moving the log. Its failure does not affect the commit, and it is tried again later. */
  function attempt(part: () => void): void {
    try {
      part();
    } catch (cause) {
      noteFailure(cause);
    }
  }

  async function idle(): Promise<void> {
    await moving;
    await syncing;
  }

  /** @returns whether the rest is so small that it can be moved on the event loop */
  async function moveAlmostAll(touch: () => Promise<unknown>, endReads: () => void): Promise<boolean> {
    const measured = () => {
      endReads();
      return measure(size);
    };
    await idle();
    if (measured().left >= backlog) {
      moveBacklog();
      await idle();
    }
    for (let tries = 0; tries < MAX_PIECES && !failure; tries++) {
      const { left, moved } = measured();
      if (left >= backlog) return false;
      if (left <= lastPiece) return true;
      step = 'piece';
      await touch();
      await idle();
      // Nothing was moved, because another process reads from the log.
      if (measured().moved === moved) return false;
    }
    return measured().left < piece;
  }

  return {
    around(commit) {
      const now = step;
      step = 'nothing';
      try {
        if (now === 'piece') attempt(hold);
        commit();
        if (now === 'piece') attempt(movePiece);
        if (now === 'end') attempt(moveEnd);
      } finally {
        attempt(letGo);
      }
      attempt(decide);
    },
    async empty(touch, endReads) {
      if (!(await moveAlmostAll(touch, endReads)) || failure) return false;
      try {
        endReads();
        const [busy] = truncate.get() as [busy: number];
        return busy === 0;
      } catch (cause) {
        noteFailure(cause);
        throw cause;
      }
    },
    failure: () => failure,
    idle,
  };
}
