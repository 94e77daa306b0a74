import type { JsonObject, Transaction } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Cause } from './cause.ts';
import type { Renderer, Representations } from './renderer.ts';
import type { EventSink } from './sink.ts';
import type { EventBody, EventData, EventType } from './types.ts';

export type { Cause } from './cause.ts';

/** An event to emit. `emit` adds its id, time and environment. */
export interface NewEvent<T extends EventType, D extends Partial<EventData<T>>> {
  type: T;
  /** The id of the object that the event is about; the contract's `x-subject` names its field. */
  subject: string;
  /** The members of the data that are known without a read. The audit log stores them. */
  details?: D & Record<Exclude<keyof D, keyof EventData<T>>, never>;
  /** Values that only the audit log stores. */
  auditOnly?: JsonObject;
  /** Returns the other members of the data. Called only if a sink needs them, within the unit of work. */
  data(show: Representations): Omit<EventData<T>, keyof D> | Promise<Omit<EventData<T>, keyof D>>;
}

export interface Events {
  /**
   * Passes an event to the sinks that accept its type. Call it in the same unit of work as the change, so that an event
   * exists only if the change is committed. The data is rendered only if a sink needs it.
   */
  emit<T extends EventType, D extends Partial<EventData<T>> = Record<never, never>>(
    tx: Transaction,
    cause: Cause,
    event: NewEvent<T, D>,
  ): Promise<void>;
}

export interface EventDeps {
  /** Milliseconds UTC. */
  now(): number;
  newId(prefix: 'evt'): string;
  renderer: Renderer;
  sinks: readonly EventSink[];
}

/** Passes events to the sinks one after the other, in the given order. */
export function createEvents({ now, newId, renderer, sinks }: EventDeps): Events {
  const sinksByType = new Map<EventType, readonly EventSink[]>();

  function sinksOf(type: EventType): readonly EventSink[] {
    const known = sinksByType.get(type);
    if (known) return known;
    const accepting = sinks.filter((sink) => sink.accepts(type));
    sinksByType.set(type, accepting);
    return accepting;
  }

  return {
    async emit(tx, cause, { type, subject, details, auditOnly, data }) {
      const taking = sinksOf(type);
      if (taking.length === 0) return;
      const at = now();
      let body: Promise<EventBody> | undefined;
      const render = async () => {
        const rest = await data(renderer(tx, cause.environmentId));
        const envelope = { id: newId('evt'), type, created_at: rfc3339(at), environment_id: cause.environmentId };
        return { ...envelope, data: { ...details, ...rest } } as unknown as EventBody;
      };
      const recorded: JsonObject = { ...details, ...auditOnly };
      const event = { type, subject, cause, at, details: recorded, body: () => (body ??= render()) };
      for (const sink of taking) {
        const handling = sink.handle(tx, event);
        if (handling) await handling;
      }
    },
  };
}
