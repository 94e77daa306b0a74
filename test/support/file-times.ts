import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The duration in seconds of one test file, without loading it. */
export interface FileTime {
  file: string;
  /** CPU time including ended child processes. It does not depend on other work of the machine. */
  cpu: number;
  elapsed: number;
}

const TICKS_PER_SECOND = 100;

/** Returns the CPU time of this process and of its ended children, in seconds. */
function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // According to proc(5), utime, stime, cutime and cstime are the fields 14 to 17 of the line.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

let begun = { cpu: 0, at: 0 };

/** Records the start of a file. */
export function beginFile(): void {
  begun = { cpu: cpuSeconds(), at: performance.now() };
}

/** Appends the time of a test file to a file with one JSON text per line. */
export function endFile(file: string | undefined, into: string): void {
  if (file === undefined) return;
  const time: FileTime = {
    file: relative(process.cwd(), file),
    cpu: round(cpuSeconds() - begun.cpu),
    elapsed: round((performance.now() - begun.at) / 1000),
  };
  appendFileSync(into, `${JSON.stringify(time)}\n`);
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

/** Returns the files that took the most CPU time, one line each, the slowest first. */
export function slowestFiles(from: string, count: number): string[] {
  const times = readFileSync(from, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FileTime);
  return times
    .sort((a, b) => b.cpu - a.cpu)
    .slice(0, count)
    .map(
      ({ file, cpu, elapsed }) => `${cpu.toFixed(1).padStart(7)} s CPU ${elapsed.toFixed(1).padStart(7)} s  ${file}`,
    );
}
