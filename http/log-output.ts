import { write, writeSync } from 'node:fs';

/** Where the lines of the log go. */
export interface LogOutput {
  write(text: string): void;
  /** Writes what is held, without waiting for it. */
  flush(): void;
  /** Writes what is held before it returns, as far as that works at the first try. */
  flushSync(): void;
  /** Resolves when the write that is under way has ended, and what was held after it is written. */
  end(): Promise<void>;
}

/** Text is joined up to so many characters before it is written. */
const JOINED_CHARS = 16 * 1024;
/** What cannot be written, on a full disk for example, is held up to so many characters; what comes after it is dropped. */
const HELD_CHARS = 4 * 1024 * 1024;

/**
 * Writes text to a descriptor in the order of arrival, beside the event loop. An output that fails is tried again with the next flush:
 * a server must not end because its log cannot be written.
 */
export function createLogOutput(fd: number): LogOutput {
  let held = '';
  /** What has been taken from `held` and is not written yet. */
  let rest: Buffer = Buffer.alloc(0);
  let underWay: Promise<void> | null = null;

  function take(): void {
    if (rest.length > 0) return;
    rest = Buffer.from(held);
    held = '';
  }

  function flush(): void {
    if (underWay) return;
    take();
    if (rest.length === 0) return;
    underWay = new Promise((resolve) => {
      write(fd, rest, (error, written) => {
        underWay = null;
        if (!error) rest = rest.subarray(written);
        // The rest of a write that was cut short, and lines that have come together meanwhile.
        if (!error && (rest.length > 0 || held.length >= JOINED_CHARS)) flush();
        resolve();
      });
    });
  }

  function flushSync(): void {
    // A write that is under way ends by itself; to write its text again would double it.
    if (underWay) return;
    try {
      for (take(); rest.length > 0; take()) rest = rest.subarray(writeSync(fd, rest));
    } catch {
      // Full, closed, or a reader that is too slow: there is nowhere left to say so.
    }
  }

  return {
    write(text) {
      if (held.length < HELD_CHARS) held += text;
      if (held.length >= JOINED_CHARS) flush();
    },
    flush,
    flushSync,
    async end() {
      while (underWay) await underWay;
      flushSync();
    },
  };
}
