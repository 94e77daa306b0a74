import type { EventSink } from './sink.ts';
import type { EventType } from './types.ts';

/**
 * Events that are not written to the audit log: executions have their own list, and a call should not write a second
 * row.
 */
const RECORDED_ELSEWHERE: ReadonlySet<EventType> = new Set(['execution.succeeded', 'execution.failed']);

/** Writes events to the audit log. It stores ids and details, not the rendered data. */
export function createAuditSink(newId: (prefix: 'aud') => string): EventSink {
  return {
    accepts: (type) => !RECORDED_ELSEWHERE.has(type),
    handle: (tx, { type, subject, cause, at, details }) =>
      tx.audit.append(cause.environmentId, {
        id: newId('aud'),
        at,
        actor: cause.actor,
        action: type,
        subjectId: subject,
        requestId: cause.requestId,
        details,
      }),
  };
}
