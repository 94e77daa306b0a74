import { clearLine, cursorTo } from 'node:readline';

/** The minimum interval between two updates of the line on a terminal, in milliseconds. */
const REFRESH_MS = 100;
/** If the output is not a terminal, no line is printed for work that takes less time than this, in milliseconds. */
const QUIET_MS = 5_000;
const STEP = 10;

export interface ProgressOptions {
  /** The name of the counted things, such as `records`. */
  unit: string;
  stream?: NodeJS.WriteStream;
  /** Milliseconds on any clock that does not go back. */
  now?: () => number;
}

export interface Progress {
  /** @param phase a word before the numbers; the rate of a new phase is measured from its beginning */
  report(done: number, total: number, phase?: string): void;
  /** Ends the line on a terminal, so that later output starts on a new line. */
  end(): void;
}

/**
 * Shows the progress of long work on standard error with the rate and the remaining time: on a terminal one line
 * that is overwritten, otherwise one line for each tenth of the work.
 */
export function createProgress({
  unit,
  stream = process.stderr,
  now = () => performance.now(),
}: ProgressOptions): Progress {
  const startedAt = now();
  let current = { phase: '', startedAt, doneBefore: 0 };
  let writtenAt = Number.NEGATIVE_INFINITY;
  let tenth = 0;
  let isOpen = false;

  function begin(phase: string, done: number): void {
    current = { phase, startedAt: now(), doneBefore: done };
    tenth = 0;
    writtenAt = Number.NEGATIVE_INFINITY;
  }

  function lineOf(done: number, total: number): string {
    const share = Math.floor((100 * done) / total);
    const seconds = (now() - current.startedAt) / 1_000;
    const rate = seconds > 0 ? (done - current.doneBefore) / seconds : 0;
    const left = rate > 0 && done < total ? `  ${duration((total - done) / rate)} left` : '';
    const speed = rate > 0 ? `  ${count(rate)} ${unit}/s` : '';
    return `${current.phase ? `${current.phase}  ` : ''}${share} %  ${count(done)} of ${count(total)} ${unit}${speed}${left}`;
  }

  return {
    report(done, total, phase = '') {
      if (total === 0) return;
      if (phase !== current.phase) begin(phase, done);
      if (stream.isTTY) {
        if (done < total && now() - writtenAt < REFRESH_MS) return;
        cursorTo(stream, 0);
        stream.write(lineOf(done, total).slice(0, (stream.columns || 80) - 1));
        clearLine(stream, 1);
        [writtenAt, isOpen] = [now(), true];
        return;
      }
      const reached = Math.floor((STEP * done) / total);
      if (reached <= tenth || now() - startedAt < QUIET_MS) return;
      tenth = reached;
      stream.write(`${lineOf(done, total)}\n`);
    },
    end() {
      if (isOpen) stream.write('\n');
      isOpen = false;
    },
  };
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.floor(seconds / 3_600)} h ${Math.ceil((seconds % 3_600) / 60)} min`;
}
