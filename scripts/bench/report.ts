import type { Operation } from './operations.ts';
import { median, medianSample, type Sample } from './statistics.ts';

/** The samples of one side of an operation, one per round. */
export interface Measured {
  label: string;
  samples: Sample[];
}

const HEAD = ['operation', 'side', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'ratio', 'goal'];

/**
 * Returns one line for the server, then one for each counterpart with the comparison: the ratio of the rates or, for
 * calls to a provider, the added time. Both are medians over the rounds.
 */
export function tableOf(results: readonly { operation: Operation; sides: Measured[] }[]): string {
  const rows = results.flatMap(({ operation, sides: [ours, ...others] }) => {
    if (!ours) return [];
    const first = [operation.name, ...figures(ours), '', ''];
    return [first, ...others.map((other, place) => comparison(operation, ours, other, place))];
  });
  return format([HEAD, ...rows]);
}

function comparison(operation: Operation, ours: Measured, other: Measured, place: number): string[] {
  const goal = place === 0 ? operation.goal : '';
  if (operation.direct) return ['', ...figures(other), addedTime(ours, other), goal];
  const ratios = ours.samples.map(
    (sample, round) => sample.perSecond / (other.samples[round]?.perSecond ?? Number.NaN),
  );
  return ['', ...figures(other), `${median(ratios).toFixed(2)} (${span(ratios)})`, goal];
}

function addedTime(ours: Measured, other: Measured): string {
  const added = (name: 'p50' | 'p99') =>
    median(ours.samples.map((sample, round) => sample[name] - (other.samples[round]?.[name] ?? Number.NaN)));
  return `+${added('p50').toFixed(2)} ms p50, +${added('p99').toFixed(2)} ms p99`;
}

function span(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
}

function figures({ label, samples }: Measured): string[] {
  const { perSecond, p50, p99, cpuPerRequest } = medianSample(samples);
  const cpu = Number.isNaN(cpuPerRequest) ? '-' : cpuPerRequest.toFixed(0);
  return [label, perSecond.toFixed(0), p50.toFixed(2), p99.toFixed(2), cpu];
}

function format(rows: readonly string[][]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
