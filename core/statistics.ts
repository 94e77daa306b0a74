import type { Hours } from '../db/store.ts';
import { LIFETIME, STATISTICS } from './budgets.ts';
import { ApiError } from './errors.ts';
import { timeOf } from './text/rfc3339.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Returns the hour that contains a time, in hours since 1970. The time is in milliseconds UTC. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}

/** Returns the beginning of an hour, in milliseconds UTC. */
export function beginningOf(hour: number): number {
  return hour * HOUR_MS;
}

/**
 * Returns the period of a request for statistics, extended to full hours. By default it ends now, and begins 24 hours
 * before its end.
 *
 * @param period RFC 3339 times
 * @param now milliseconds UTC
 * @throws ApiError VALIDATION_FAILED if the period is empty, or longer than statistics are stored
 */
export function periodOf(
  { from, before }: { from?: string | undefined; before?: string | undefined },
  now: number,
): Hours {
  const until = timeOf(before) ?? now;
  const fromHour = hourOf(timeOf(from) ?? until - DAY_MS);
  const beforeHour = Math.ceil(until / HOUR_MS);
  if (fromHour >= beforeHour) throw invalid('must be earlier than the parameter before, which is now by default');
  if (beginningOf(beforeHour - fromHour) > LIFETIME.statisticsMs)
    throw invalid(`must be at most ${LIFETIME.statisticsMs / DAY_MS} days earlier than the parameter before`);
  return { fromHour, beforeHour };
}

function invalid(message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'The period is invalid.', { errors: [{ field: 'from', message }] });
}

/**
 * Groups rows by key. Groups by hour are sorted by time. Of all other kinds, only the 100 groups with the highest
 * totals are returned, the highest first.
 *
 * @param kind what the rows are grouped by; only `hour` is treated differently
 * @param keyOf returns the key of the group that a row belongs to; for `hour` a number as text
 */
export function groupsOf<Row extends { total: number }>(
  kind: string,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): { key: string; some: Row[] }[] {
  const groups = [...Map.groupBy(rows, keyOf)].map(([key, some]) => ({ key, some, size: sum(some) }));
  if (kind === 'hour') return groups.toSorted((a, b) => Number(a.key) - Number(b.key));
  return groups.toSorted((a, b) => b.size - a.size || (a.key < b.key ? -1 : 1)).slice(0, STATISTICS.groups);
}

/** Adds up the counts of a list of rows. */
export function sum(rows: readonly { total: number }[]): number {
  return rows.reduce((total, row) => total + row.total, 0);
}
