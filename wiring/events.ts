import { type AccountChanges, createAccountChanges } from '../core/accounts/account-changes.ts';
import { createAccountSink } from '../core/events/account-sink.ts';
import { createAuditSink } from '../core/events/audit-sink.ts';
import { createEvents, type Events } from '../core/events/events.ts';
import { createMetricsSink } from '../core/events/metrics-sink.ts';
import { createRenderer } from '../core/events/renderer.ts';
import type { EventSink } from '../core/events/sink.ts';
import type { Runtime } from './runtime.ts';
import type { Tools } from './tools.ts';
import type { UpstreamMcp } from './upstream-mcp.ts';

export interface EventParts {
  readonly events: Events;
  /** Notifies requests that wait for a change of an account. */
  readonly accountChanges: AccountChanges;
}

type Deps = Pick<Runtime, 'now' | 'newId' | 'metrics'> &
  Pick<Tools, 'catalogue'> &
  Pick<UpstreamMcp, 'upstreamSessions'>;

/**
 * Creates the emitter of events with its sinks: the audit log, the sink for changes of accounts, the metrics, and the
 * given sinks.
 *
 * @param more sinks of other parts, in the order in which they receive events
 */
export function createEventParts(deps: Deps, more: readonly EventSink[]): EventParts {
  const { now, newId, metrics, upstreamSessions } = deps;
  const accountChanges = createAccountChanges();
  const accountSink = createAccountSink((id) => {
    accountChanges.changed(id);
    upstreamSessions.forget(id);
  });
  const sinks = [createAuditSink(newId), accountSink, createMetricsSink(metrics.event), ...more];
  return { events: createEvents({ now, newId, renderer: createRenderer(deps), sinks }), accountChanges };
}
