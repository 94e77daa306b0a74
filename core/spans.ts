import { tracingChannel } from 'node:diagnostics_channel';

export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** The data of a span. The names of attributes follow the semantic conventions of OpenTelemetry. */
export interface SpanFacts {
  name: string;
  kind: 'server' | 'client' | 'internal';
  /** No inputs, no addresses with paths, no secrets: traces leave the server. */
  attributes: SpanAttributes;
  /** The caller's trace: the value of the `traceparent` header in its request. */
  parent?: string | undefined;
  /**
   * The value of the `traceparent` header for an outgoing request, so that the called host continues this trace. The
   * recorder (the subscriber of the channel `SPANS`) sets it on spans of kind `client`.
   */
  traceparent?: string | undefined;
  /** The kind of failure; undefined for success. If the work rejects, the recorder sets it from the error. */
  failure?: string | undefined;
}

/** The name of the diagnostics channel for spans. If it has no subscribers, no span is created. */
export const SPANS = 'valetkey.span';

const spans = tracingChannel<unknown, SpanFacts>(SPANS);
/** Passed to work that is not traced, so that it can set attributes without checking whether it is traced. */
export const UNTRACED: SpanFacts = { name: '', kind: 'internal', attributes: {} };

/** Whether work is traced now. Frequently called code can check this to avoid the cost of `inSpan`. */
export function isTraced(): boolean {
  return spans.hasSubscribers;
}

/**
 * Runs work as a span of the current trace. Without OpenTelemetry it only calls the work.
 *
 * @param begin returns the facts that are known before the work; only called if the work is traced
 * @param run receives the facts, to add what is known later; without tracing, these additions have no effect
 */
export function inSpan<T>(begin: () => SpanFacts, run: (facts: SpanFacts) => Promise<T>): Promise<T> {
  if (!isTraced()) return run(UNTRACED);
  const facts = begin();
  return spans.tracePromise(run, facts, undefined, facts);
}
