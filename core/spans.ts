import { tracingChannel } from 'node:diagnostics_channel';

export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** A piece of work for traces. The names of attributes follow the semantic conventions of OpenTelemetry. */
export interface SpanFacts {
  name: string;
  kind: 'server' | 'client' | 'internal';
  /** No inputs, no addresses with paths, no secrets: traces leave the server. */
  attributes: SpanAttributes;
  /** The trace that the caller of the server takes part in, as in its header `traceparent`. */
  parent?: string | undefined;
  /** The header `traceparent` that makes another host continue the trace here; set by the recorder of client spans. */
  traceparent?: string | undefined;
  /** The kind of failure; undefined while the work has not failed. A rejection is a failure too. */
  failure?: string | undefined;
}

/** The channel on which work is announced. Without subscribers nothing is created. */
export const SPANS = 'valetkey.span';

const spans = tracingChannel<unknown, SpanFacts>(SPANS);
/** Passed to work that is not traced, so that the work can set attributes without checking whether it is. */
export const UNTRACED: SpanFacts = { name: '', kind: 'internal', attributes: {} };

/** Whether work is traced now. Code that each call runs need not begin a span otherwise. */
export function isTraced(): boolean {
  return spans.hasSubscribers;
}

/**
 * Runs work as a span of the current trace. Without OpenTelemetry it only calls the work.
 *
 * @param begin returns the facts that are known before the work; only called if the work is traced
 * @param run receives the facts, to add what is known later. Attributes that are set while nothing is traced are lost
 */
export function inSpan<T>(begin: () => SpanFacts, run: (facts: SpanFacts) => Promise<T>): Promise<T> {
  if (!isTraced()) return run(UNTRACED);
  const facts = begin();
  return spans.tracePromise(run, facts, undefined, facts);
}
