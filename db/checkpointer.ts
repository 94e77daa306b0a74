import type { Durability } from './durability.ts';
import { isFatal, translateError } from './errors.ts';
import type { Client } from './open.ts';

/** In frames of the log, of which each is a page of 4 KiB. */
export interface LogBounds {
  /** So many are moved into the main file at once. */
  piece: number;
  /** From here on the log is brought to its end, after which it begins anew. */
  length: number;
  /** How few may be left for the last piece of it. */
  lastPiece: number;
  /** Where SQLite moves all of it by itself, at the next commit, whatever happens here. */
  hardBound: number;
}

export const LOG_BOUNDS: LogBounds = { piece: 1024, length: 8192, lastPiece: 128, hardBound: 16_384 };

export interface Checkpointer {
  /** Commits by the given function, with a piece of a checkpoint where one is due. */
  around(commit: () => void): void;
  /** Why nothing that is written can be trusted any more: the main file could not be synced. */
  failure(): Error | null;
  /** Settles when no sync is under way any more. */
  idle(): Promise<void>;
}

/** How often a log is looked at that is not near its end, in commits. */
const LOOK_EVERY = 8;
/** How many pieces may go before the last one. Where more comes than goes by then, the last one is just larger. */
const MAX_PIECES = 3;

/**
 * Keeps the log short without holding up the event loop for the sync of the main file, which takes as long as a hundred requests.
 *
 * A checkpoint that cannot reach the end of the log writes its pages into the main file and does not sync it, since the log keeps
 * them. So a reader is put at the end of the log before a commit, and the checkpoint after that commit stops there; what it has
 * written is synced beside the event loop. That repeats until so little is left that a checkpoint to the end, with the sync that
 * SQLite makes before it lets the log begin anew, is soon done. Nothing about the order of syncs is decided here.
 *
 * @param writer commits, and makes the checkpoints
 * @param pin a connection that serves nothing else
 * @param main syncs the main file
 */
export function createCheckpointer(
  writer: Client,
  pin: Client,
  main: Durability,
  { piece, length, lastPiece, hardBound }: LogBounds = LOG_BOUNDS,
): Checkpointer {
  writer.pragma(`wal_autocheckpoint = ${hardBound}`);
  const size = writer.prepare('pragma wal_checkpoint(noop)').raw();
  const checkpoint = writer.prepare('pragma wal_checkpoint(passive)').raw();
  const [begin, place, end] = [pin.prepare('begin'), pin.prepare('pragma user_version'), pin.prepare('commit')];
  /** What goes with the next commit. */
  let step: 'nothing' | 'piece' | 'end' = 'nothing';
  let endFrom = length;
  let commits = 0;
  /** Pieces that were moved since the log was to end. */
  let pieces = 0;
  let ending = false;
  let syncing = false;
  let synced = Promise.resolve();
  let failure: Error | null = null;

  /** How many frames the log has, and how many of them the main file lacks. */
  function measure(statement: typeof size): { frames: number; left: number } {
    const [, frames, moved] = statement.get() as [busy: number, frames: number, moved: number];
    return { frames, left: frames - moved };
  }

  /** It is between two transactions that the log can be measured. */
  function decide(): void {
    if (failure || syncing || (!ending && ++commits % LOOK_EVERY !== 0)) return;
    const { frames, left } = measure(size);
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
    syncing = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    synced = promise;
    main.sync((cause) => {
      syncing = false;
      failure ??= cause;
      resolve();
    });
  }

  function moveEnd(): void {
    pieces = 0;
    ending = false;
    const { frames, left } = measure(checkpoint);
    // Where somebody else still reads from the log it is tried again later.
    endFrom = left === 0 ? length : frames + piece;
  }

  /** Moving the log is no part of what is being committed: it fails for itself, and is tried again later. */
  function attempt(part: () => void): void {
    try {
      part();
    } catch (cause) {
      const error = translateError(cause);
      if (isFatal(error)) failure ??= error as Error;
    }
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
    failure: () => failure,
    idle: () => synced,
  };
}
