import type { Readable } from 'node:stream';

/**
 * Forwards the output of a process in complete lines, so that lines of several processes are not mixed. A last line
 * without a line break is not forwarded.
 */
export function forwardLines(output: Readable, pass: (lines: string) => void): void {
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) pass(rest + text.slice(0, end));
    rest = end > 0 ? text.slice(end) : rest + text;
  });
}
