import type { EventSink } from './sink.ts';
import type { EventType } from './types.ts';

/** Events of executions. They are not counted here, because other metrics count executions. */
const COUNTED_ELSEWHERE: ReadonlySet<EventType> = new Set(['execution.succeeded', 'execution.failed']);

/** Counts committed events by type. */
export function createMetricsSink(counted: (type: EventType) => void): EventSink {
  return {
    accepts: (type) => !COUNTED_ELSEWHERE.has(type),
    handle: (tx, { type }) => tx.afterCommit(() => counted(type)),
  };
}
