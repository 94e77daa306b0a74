const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * A run of lines that are consecutive both in a generated file and in a source: its first line in the generated file,
 * the index of the source, and its first line in the source.
 */
type LineRun = [line: number, source: number, sourceLine: number];

/**
 * Returns which lines of a generated file are from which lines of its sources, from the mappings of a source map
 * (ECMA-426). The number of the first line is 1. A table of runs has a tenth of the size of a source map, and is read
 * in milliseconds.
 */
export function lineRuns(mappings: string): LineRun[] {
  const runs: LineRun[] = [];
  let [source, sourceLine] = [0, 0];
  for (const [index, segments] of mappings.split(';').entries()) {
    let first: LineRun | undefined;
    for (const segment of segments.split(',')) {
      const [, sourceStep, lineStep] = numbersOf(segment);
      if (sourceStep === undefined || lineStep === undefined) continue;
      source += sourceStep;
      sourceLine += lineStep;
      first ??= [index + 1, source, sourceLine + 1];
    }
    if (first !== undefined && !continues(runs.at(-1), first)) runs.push(first);
  }
  return runs;
}

function continues(run: LineRun | undefined, [line, source, sourceLine]: LineRun): boolean {
  return run !== undefined && run[1] === source && sourceLine - run[2] === line - run[0];
}

/**
 * Decodes the numbers of a segment (base64 VLQ): five bits in each digit, the lowest first; the lowest bit of a number
 * is its sign.
 */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
