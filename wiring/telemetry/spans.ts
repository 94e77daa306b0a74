import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import {
  type Context,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, W3CTraceContextPropagator } from '@opentelemetry/core';
import { SPANS, type SpanFacts } from '../../core/spans.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

export interface SpanRecording {
  /** The context of the code that runs now, with its span. */
  active(): Context;
  stop(): void;
}

/** Records the work that `inSpan` announces. The context of a span lasts as long as its asynchronous work. */
export function recordSpans(tracer: Tracer): SpanRecording {
  const channel = tracingChannel<unknown, SpanFacts>(SPANS);
  const contexts = new AsyncLocalStorage<Context>();
  const open = new WeakMap<SpanFacts, Span>();
  const active = () => contexts.getStore() ?? ROOT_CONTEXT;

  channel.start.bindStore(contexts, (facts) => {
    const context = contextOf(facts, active());
    const span = tracer.startSpan(facts.name, { kind: KINDS[facts.kind] }, context);
    open.set(facts, span);
    const within = trace.setSpan(context, span);
    if (facts.kind === 'client') facts.traceparent = traceParentOf(within);
    return within;
  });
  const end = (facts: SpanFacts) => {
    const span = open.get(facts);
    if (!span) return;
    open.delete(facts);
    span.updateName(facts.name);
    span.setAttributes(facts.attributes);
    if (facts.failure !== undefined) {
      span.setAttribute('error.type', facts.failure);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };
  const subscribers = {
    start() {},
    // Work that throws before it returns a promise has no asynchronous end.
    end: (facts: SpanFacts & { error?: unknown }) => {
      if ('error' in facts) end(facts);
    },
    error: (facts: SpanFacts & { error: unknown }) => {
      facts.failure ??= typeOf(facts.error);
    },
    asyncStart() {},
    asyncEnd: end,
  };
  channel.subscribe(subscribers);
  return {
    active,
    stop() {
      channel.unsubscribe(subscribers);
      channel.start.unbindStore(contexts);
    },
  };
}

const propagator = new W3CTraceContextPropagator();

/**
 * Returns the `traceparent` header for a call to another host. `tracestate` is not sent, because it can contain data of
 * the caller that does not concern other hosts.
 */
function traceParentOf(context: Context): string | undefined {
  const headers: { traceparent?: string } = {};
  propagator.inject(context, headers, defaultTextMapSetter);
  return headers.traceparent;
}

function contextOf({ parent }: SpanFacts, active: Context): Context {
  const caller = parent === undefined ? null : parseTraceParent(parent);
  return caller ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : active;
}

/** The code or class of an error; its message may contain data that must not leave the server. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
