import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { pino } from 'pino';
import { startTimer } from '../../core/scheduling/timers.ts';
import { createLogOutput, type LogOutput } from './log-output.ts';
import { describeLogLine } from './log-text.ts';
import { createRepeatFilter } from './repeated-lines.ts';
import { withSourcePlaces } from './source-places.ts';

export type { Logger } from 'pino';

const STANDARD_OUTPUT = 1;
const FLUSH_MS = 500;

export interface Log {
  log: Logger;
  /** Also passes each later line to this function. */
  tee(receive: (line: string) => void): void;
  /** Writes complete JSON lines of another process. */
  pass(lines: string): void;
  /** Writes the buffered lines; called at the end of the process. */
  end(): Promise<void>;
}

/** `auto` is `text` on a terminal, and `json` elsewhere. */
export type LogFormat = 'auto' | 'json' | 'text';

/**
 * Writes one line per event to standard output: JSON, or text for people. JSON lines are buffered, because a write for
 * each request would take an eighth of the request's time. The line of a request contains only the values of
 * `createRequestLog`: no path, no query, no header, no body.
 *
 * @param place the number of this process, if several serve one address: every line has it as `process`
 */
export function createLog(level: string, format: LogFormat = 'json', place: number | null = null): Log {
  const output = createLogOutput(STANDARD_OUTPUT);
  const shown = isText(format) ? textOutput(output) : { write: output.write, pass: output.write };
  let also: ((line: string) => void) | undefined;
  const stream = {
    flush: output.flush,
    write(line: string) {
      shown.write(line);
      also?.(line);
    },
  };
  // A failing log output cannot report its error; the next flush tries again.
  const timer = startTimer(output.flush, { everyMs: FLUSH_MS, failed: () => {} });
  process.once('exit', output.flushSync);
  return {
    log: createLogger(level, stream, { place }),
    tee(receive) {
      also = receive;
    },
    pass: shown.pass,
    async end() {
      await timer.stop();
      await output.end();
    },
  };
}

function isText(format: LogFormat): boolean {
  return format === 'text' || (format === 'auto' && process.stdout.isTTY);
}

/** Writes each line as readable text, and immediately, because a user may be watching. */
function textOutput(output: LogOutput) {
  const hasColours = process.stdout.isTTY && process.stdout.hasColors();
  const write = (line: string) => {
    output.write(describeLogLine(line, hasColours));
    output.flush();
  };
  const pass = (lines: string) => {
    for (const line of lines.trimEnd().split('\n')) write(line);
  };
  return { write, pass };
}

/**
 * Creates the logger for a stream. It leaves out properties of errors that could contain secrets, and lines about a
 * storage error that repeat a line of the last minute.
 */
export function createLogger(
  level: string,
  stream: DestinationStream,
  { now = Date.now, place = null }: { now?: () => number; place?: number | null } = {},
): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const isRepeated = createRepeatFilter(now);
  const hooks: LoggerOptions['hooks'] = {
    logMethod(args, method) {
      if (!isRepeated(args[0], args[1])) method.apply(this, args);
    },
  };
  const base = place === null ? null : { process: place };
  return pino({ level, base, timestamp, serializers: { err: describeError }, hooks }, stream);
}

/**
 * Returns the loggable part of an error: the name, message, code and stack of the error and of its causes. Other
 * properties are omitted, because they could contain secrets.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack && withSourcePlaces(error.stack),
    ...(error.cause !== undefined && depth < 4 && { cause: describeError(error.cause, depth + 1) }),
  };
}
