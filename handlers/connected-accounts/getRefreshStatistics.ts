import { summarizeRefreshes } from '../../core/accounts/refresh-statistics.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { beginningOf, periodOf } from '../../core/statistics.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const getRefreshStatistics: Handler<'getRefreshStatistics', Accounts> = async (call, reply, accounts) => {
  const { group_by: group, connector, ...asked } = call.query;
  const period = periodOf(asked, accounts.now());
  const { refreshStatistics } = accounts.store.read;
  const rows = await refreshStatistics.grouped(call.environment.id, group, { ...period, connector });
  const { total, groups } = summarizeRefreshes(group, rows);
  const keyOf = (key: string) => (group === 'hour' ? rfc3339(beginningOf(Number(key))) : key);
  return reply(200, {
    from: rfc3339(beginningOf(period.fromHour)),
    before: rfc3339(beginningOf(period.beforeHour)),
    total,
    groups: groups.map((statistic) => ({ ...statistic, key: keyOf(statistic.key) })),
  });
};
