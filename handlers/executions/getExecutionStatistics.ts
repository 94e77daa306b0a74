import { LIFETIME } from '../../core/budgets.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import { beginningOf, periodOf, type Statistic, summarize } from '../../core/executions/statistics.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export const getExecutionStatistics: Handler<'getExecutionStatistics', Executions> = async (
  call,
  reply,
  executions,
) => {
  const { group_by: group, from, before, tool_name: toolName, connector } = call.query;
  const until = before === undefined ? executions.now() : Date.parse(before);
  const period = periodOf(from === undefined ? until - DAY_MS : Date.parse(from), until);
  if (period.fromHour >= period.beforeHour) throw invalid('from', 'must be earlier than before');
  if (beginningOf(period.beforeHour - period.fromHour) > LIFETIME.executionStatisticsMs)
    throw invalid('from', `must be at most ${LIFETIME.executionStatisticsMs / DAY_MS} days earlier than before`);
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

function invalid(field: string, message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'The period is invalid.', { errors: [{ field, message }] });
}
