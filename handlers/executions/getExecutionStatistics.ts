import type { Executions } from '../../core/capabilities/executions.ts';
import { type Statistic, summarize } from '../../core/executions/statistics.ts';
import { beginningOf, periodOf } from '../../core/statistics.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

export const getExecutionStatistics: Handler<'getExecutionStatistics', Executions> = async (
  call,
  reply,
  executions,
) => {
  const { group_by: group, tool_name: toolName, connector, ...asked } = call.query;
  const period = periodOf(asked, executions.now());
  const { executionStatistics } = executions.store.read;
  const rows = await executionStatistics.grouped(call.environment.id, group, { ...period, toolName, connector });
  const { total, groups } = summarize(group, rows);
  const keyOf = (key: string) => (group === 'hour' ? rfc3339(beginningOf(Number(key))) : key);
  return reply(200, {
    from: rfc3339(beginningOf(period.fromHour)),
    before: rfc3339(beginningOf(period.beforeHour)),
    total: present(total),
    groups: groups.map((statistic) => ({ ...present(statistic), key: keyOf(statistic.key) })),
  });
};

function present({ p50, p99, ...counts }: Statistic): Schemas['ExecutionStatistic'] {
  return { ...counts, duration_ms_p50: p50, duration_ms_p99: p99 };
}
