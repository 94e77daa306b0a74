import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { pino } from 'pino';
import { startTimer } from '../core/timers.ts';
import { createLogOutput } from './log-output.ts';
import { createRepeatFilter } from './repeated-lines.ts';

export type { Logger } from 'pino';

const STANDARD_OUTPUT = 1;
const FLUSH_MS = 500;

export interface Log {
  log: Logger;
  /** Writes what is buffered; called at the end of the process. */
  end(): Promise<void>;
}

/**
 * One JSON line per event on standard output. Lines are buffered, because a write per request costs an eighth of its time.
 * Nothing of a request is logged but its operation, status, duration and id: no path, no query, no header, no body.
 */
export function createLog(level: string): Log {
  const output = createLogOutput(STANDARD_OUTPUT);
  // An output that fails has nowhere to say so; the next flush tries again.
  const timer = startTimer(output.flush, { everyMs: FLUSH_MS, failed: () => {} });
  process.once('exit', output.flushSync);
  return {
    log: createLogger(level, output),
    async end() {
      await timer.stop();
      await output.end();
    },
  };
}

/** The logger itself, to any stream: what a line may hold is decided here. */
export function createLogger(level: string, stream: DestinationStream, now: () => number = Date.now): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const isRepeated = createRepeatFilter(now);
  const hooks: LoggerOptions['hooks'] = {
    logMethod(args, method) {
      if (!isRepeated(args[0], args[1])) method.apply(this, args);
    },
  };
  return pino({ level, base: null, timestamp, serializers: { err: describeError }, hooks }, stream);
}

/** An error for the log: names, codes and stacks of the chain of causes, and no other property that could carry a value. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause !== undefined && depth < 4 && { cause: describeError(error.cause, depth + 1) }),
  };
}
