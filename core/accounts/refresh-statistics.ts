import type {
  AccountRow,
  CountedRefresh,
  RefreshStatisticGroup,
  RefreshStatisticRow,
  Repositories,
} from '../../db/store.ts';
import { groupsOf, hourOf, sum } from '../statistics.ts';
import { type FailureReason, kindOf } from './refresh-failure.ts';

export interface RefreshStatistic {
  /**
   * What the refreshes of the group have in common: an hour, a connector, or an outcome with its kind of error. Empty
   * for the total.
   */
  key: string;
  refreshes: number;
  succeeded: number;
  expired: number;
  failed: number;
}

/**
 * Counts a request for a new token, in the unit of work (database transaction) that stores its outcome, so that
 * counting needs no separate commit. Requests with credentials that are not used up, such as client credentials, are
 * counted too. A response that came too late for its account is not counted, because its outcome is not stored.
 *
 * @param at when the outcome is stored, in milliseconds UTC
 * @param reason why the refresh failed; absent for other outcomes
 */
export async function countRefresh(
  tx: Pick<Repositories, 'refreshStatistics'>,
  { environmentId, connector }: Pick<AccountRow, 'environmentId' | 'connector'>,
  at: number,
  outcome: CountedRefresh['outcome'],
  reason?: FailureReason,
): Promise<void> {
  const errorKind = reason === undefined ? '' : kindOf(reason);
  await tx.refreshStatistics.count(environmentId, { hour: hourOf(at), connector, outcome, errorKind });
}

/**
 * Adds up the counts of a list of rows to one statistic for each group, and to one for all.
 *
 * @returns hours in their order; of other groups the 100 with the most refreshes, the largest first
 */
export function summarizeRefreshes(
  kind: RefreshStatisticGroup,
  rows: readonly RefreshStatisticRow[],
): { total: RefreshStatistic; groups: RefreshStatistic[] } {
  const keyOf = ({ group, outcome }: RefreshStatisticRow) =>
    kind === 'outcome' && outcome !== 'FAILED' ? outcome.toLowerCase() : group;
  const groups = groupsOf(kind, rows, keyOf).map(({ key, some }) => statisticOf(key, some));
  return { total: statisticOf('', rows), groups };
}

function statisticOf(key: string, rows: readonly RefreshStatisticRow[]): RefreshStatistic {
  const totalOf = (outcome: RefreshStatisticRow['outcome']) => sum(rows.filter((row) => row.outcome === outcome));
  return {
    key,
    refreshes: sum(rows),
    succeeded: totalOf('SUCCEEDED'),
    expired: totalOf('EXPIRED'),
    failed: totalOf('FAILED'),
  };
}
