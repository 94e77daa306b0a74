import { median } from '../statistics.ts';

/** Divides the value of each round by the value of `to` in the same round. */
export function ratios(values: readonly number[], to: readonly number[]): number[] {
  return values.map((value, round) => value / (to[round] ?? Number.NaN));
}

/** Returns the median, and in parentheses the smallest and the largest value. */
export function range(values: readonly number[], digits = 2): string {
  const shown = [median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${shown[0]} (${shown[1]} to ${shown[2]})`;
}

/** Prints a table in Markdown. */
export function print(title: string, [head = [], ...rows]: string[][]): void {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  console.log(`\n${title}\n\n${[line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')}`);
}
