import { STORAGE } from '../../core/budgets.ts';
import type { CheckpointThread } from './checkpoint-thread.ts';
import type { Durability } from './durability.ts';
import { isFatal, translateError } from './errors.ts';
import type { Client } from './open.ts';

/** In frames of the log, of which each is a page of 4 KiB. */
export interface LogBounds {
  /** So many are moved into the main file in one piece. */
  piece: number;
  /** From this length on the log is brought to its end, after which it starts again from the beginning. */
  length: number;
  /** How few may be left for the last piece. */
  lastPiece: number;
  /** So many and more are moved by a thread. They collect while another process reads from the log, or the main file syncs slowly. */
  backlog: number;
}

const LOG_BOUNDS: LogBounds = {
  piece: STORAGE.pieceFrames,
  length: STORAGE.logFrames,
  lastPiece: STORAGE.lastPieceFrames,
  backlog: STORAGE.backlogFrames,
};

export interface Checkpointer {
  /** Commits by the given function, with a piece of a checkpoint where one is due. */
  around(commit: () => void): void;
  /**
   * Moves the whole log into the main file and cuts it to zero bytes, so that nothing that was deleted or replaced is left in it. Waits
   * for no lock.
   *
   * @param touch commits a change of one page; pieces are moved along with commits
   * @param endReads is called right before the log is cut, to end the reads of this process
   * @returns false when another process reads from the log or is writing: try again later
   * @throws SqliteError
   */
  empty(touch: () => Promise<unknown>, endReads: () => void): Promise<boolean>;
  /** Why nothing that is written can be trusted any more: the main file could not be synced. */
  failure(): Error | null;
  /** Settles when nothing is being moved or synced. */
  idle(): Promise<void>;
}

export interface CheckpointParts {
  /** Commits, and makes the checkpoints. */
  writer: Client;
  /** A connection that serves nothing else. */
  pin: Client;
  /** Syncs the main file. */
  main: Durability;
  thread: CheckpointThread;
  /** Told once of the failure after which nothing that is written can be trusted any more. */
  failed(error: Error): void;
}

/** A log that is not near its end is measured after every eighth commit. */
const LOOK_EVERY = 8;
/** How many pieces may go before the last one. Where writes arrive faster than pieces are moved, the last piece is larger. */
const MAX_PIECES = 3;

/**
 * Keeps the log short without holding up the event loop for the sync of the main file, which takes as long as a hundred requests.
 *
 * A checkpoint that cannot reach the end of the log writes its pages into the main file and does not sync it, since the log keeps
 * them. So a reader is put at the end of the log before a commit, and the checkpoint after that commit stops there; what it has
 * written is synced beside the event loop. That repeats until so little is left that a checkpoint to the end, with the sync that
 * SQLite makes before it lets the log start again, is soon done. Nothing about the order of syncs is decided here.
 */
export function createCheckpointer(
  { writer, pin, main, thread, failed }: CheckpointParts,
  { piece, length, lastPiece, backlog }: LogBounds = LOG_BOUNDS,
): Checkpointer {
  // SQLite would move any length of log within a commit.
  writer.pragma('wal_autocheckpoint = 0');
  const size = writer.prepare('pragma wal_checkpoint(noop)').raw();
  const checkpoint = writer.prepare('pragma wal_checkpoint(passive)').raw();
  const truncate = writer.prepare('pragma wal_checkpoint(truncate)').raw();
  const [begin, place, end] = [pin.prepare('begin'), pin.prepare('pragma user_version'), pin.prepare('commit')];
  /** What goes with the next commit. */
  let step: 'nothing' | 'piece' | 'end' = 'nothing';
  let endFrom = length;
  let commits = 0;
  /** Pieces that were moved since the log was to end. */
  let pieces = 0;
  let ending = false;
  let moving = Promise.resolve();
  let isMoving = false;
  let syncing = Promise.resolve();
  let isSyncing = false;
  let failure: Error | null = null;

  /** How many frames the log has, and how many of them the main file lacks. */
  function measure(statement: typeof size): { frames: number; moved: number; left: number } {
    const [, frames, moved] = statement.get() as [busy: number, frames: number, moved: number];
    return { frames, moved, left: frames - moved };
  }

  /** It is between two transactions that the log can be measured. */
  function decide(): void {
    if (failure || isMoving || (!ending && ++commits % LOOK_EVERY !== 0)) return;
    const { frames, left } = measure(size);
    if (left >= backlog) {
      moveBacklog();
      return;
    }
    thread.end().catch(judge);
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
    // Where another process still reads from the log it is tried again later.
    endFrom = left === 0 ? length : frames + piece;
  }

  function moveBacklog(): void {
    step = 'nothing';
    isMoving = true;
    moving = thread
      .move()
      .catch(judge)
      .then(() => {
        isMoving = false;
        syncMain();
      });
  }

  function judge(cause: unknown): void {
    const error = translateError(cause);
    if (isFatal(error)) fail(error as Error);
  }

  function fail(error: Error): void {
    if (failure) return;
    failure = error;
    failed(error);
  }

  /** Moving the log is not part of what is being committed: it fails for itself, and is tried again later. */
  function attempt(part: () => void): void {
    try {
      part();
    } catch (cause) {
      judge(cause);
    }
  }

  async function idle(): Promise<void> {
    await moving;
    await syncing;
  }

  /** @returns whether so little is left that the rest may be moved on the event loop */
  async function moveAlmostAll(touch: () => Promise<unknown>): Promise<boolean> {
    await idle();
    if (measure(size).left >= backlog) {
      moveBacklog();
      await idle();
    }
    for (let tries = 0; tries < MAX_PIECES && !failure; tries++) {
      const { left, moved } = measure(size);
      if (left >= backlog) return false;
      if (left <= lastPiece) return true;
      step = 'piece';
      await touch();
      await idle();
      // Not moved further: another process reads from the log.
      if (measure(size).moved === moved) return false;
    }
    return measure(size).left < piece;
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
      if (!(await moveAlmostAll(touch)) || failure) return false;
      try {
        endReads();
        const [busy] = truncate.get() as [busy: number];
        return busy === 0;
      } catch (cause) {
        judge(cause);
        throw cause;
      }
    },
    failure: () => failure,
    idle,
  };
}
