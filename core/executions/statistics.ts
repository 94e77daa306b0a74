import type { StatisticGroup, StatisticRow } from '../../db/store.ts';
import { groupsOf, sum } from '../statistics.ts';

export interface Statistic {
  /** The key of the group. The API contract describes it for each kind of group. */
  key: string;
  executions: number;
  succeeded: number;
  failed: number;
  unknown: number;
  /** Milliseconds, estimated; null if no execution has a known duration. */
  p50: number | null;
  p99: number | null;
}

/**
 * The upper bounds of the durations that are counted together, in milliseconds. The migration that created the table of
 * counts has the same bounds.
 */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000] as const;

/**
 * Adds up the counts of a list of rows to one statistic for each group, and to one for all rows.
 *
 * @returns `groups`: hours in their order; of other kinds, at most the 100 groups with the most executions, the largest
 * first. `total` includes all rows
 */
export function summarize(
  kind: StatisticGroup,
  rows: readonly StatisticRow[],
): { total: Statistic; groups: Statistic[] } {
  const groups = groupsOf(kind, rows, (row) => keyOf(kind, row)).map(({ key, some }) => statisticOf(key, some));
  const ofAll = [...Map.groupBy(rows, ({ status, upToMs }) => `${status} ${upToMs}`).values()];
  const total = ofAll.map((some) => ({ ...(some[0] as StatisticRow), total: sum(some) }));
  return { total: statisticOf('', total), groups };
}

function keyOf(kind: StatisticGroup, { group, status }: StatisticRow): string {
  if (kind !== 'outcome') return group;
  if (status === 'FAILED') return group === '' ? 'not_sent' : group;
  return status.toLowerCase();
}

function statisticOf(key: string, rows: readonly StatisticRow[]): Statistic {
  const totalOf = (status: StatisticRow['status']) => sum(rows.filter((row) => row.status === status));
  const measured = rows.filter(({ status }) => status !== 'UNKNOWN');
  return {
    key,
    executions: sum(rows),
    succeeded: totalOf('SUCCEEDED'),
    failed: totalOf('FAILED'),
    unknown: totalOf('UNKNOWN'),
    p50: quantile(measured, 0.5),
    p99: quantile(measured, 0.99),
  };
}

/**
 * Estimates a quantile of the durations, which are assumed to be spread evenly between two bounds. Returns null without
 * rows.
 */
function quantile(rows: readonly StatisticRow[], share: number): number | null {
  let left = sum(rows) * share;
  if (left === 0) return null;
  let lower = 0;
  for (const upper of BOUNDS) {
    const count = sum(rows.filter(({ upToMs }) => upToMs === upper));
    if (count > 0 && left <= count) return Math.ceil(lower + ((upper - lower) * left) / count);
    left -= count;
    lower = upper;
  }
  return lower;
}
