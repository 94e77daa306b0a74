import { write, writeSync } from 'node:fs';

/** The destination of the log's lines. */
export interface LogOutput {
  write(text: string): void;
  /** Starts writing the buffered text, without waiting. */
  flush(): void;
  /**
   * Writes the buffered text before it returns. Ignores a failure, and has no effect while another write is running.
   */
  flushSync(): void;
  /** Resolves when the running write has ended and the remaining text was written, or could not be written. */
  end(): Promise<void>;
}

/** Text is collected up to this many characters before it is written. */
const JOINED_CHARS = 16 * 1024;
/**
 * If the output fails, for example because the disk is full, text is kept up to this many characters; further text is
 * dropped.
 */
const HELD_CHARS = 4 * 1024 * 1024;

/**
 * Writes text to a file descriptor in the order of arrival, outside of the event loop. After a failure, the next flush
 * tries again: a server must not end because its log cannot be written.
 */
export function createLogOutput(fd: number): LogOutput {
  let held = '';
  /** The part that was taken from `held` and is not written yet. */
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
        // Continues with the rest of an incomplete write, or with lines that have collected meanwhile.
        if (!error && (rest.length > 0 || held.length >= JOINED_CHARS)) flush();
        resolve();
      });
    });
  }

  function flushSync(): void {
    // A running write will end by itself; writing its text again would duplicate it.
    if (underWay) return;
    try {
      for (take(); rest.length > 0; take()) rest = rest.subarray(writeSync(fd, rest));
    } catch {
      // The output is full, closed or too slow, and the failure cannot be reported anywhere else.
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
