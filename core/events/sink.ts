import type { JsonObject, Transaction } from '../../db/store.ts';
import type { Cause } from './events.ts';
import type { EventBody, EventType } from './types.ts';

/** An event on its way to the sinks. */
export interface EmittedEvent {
  type: EventType;
  subject: string;
  cause: Cause;
  /** Milliseconds UTC. */
  at: number;
  /** What the audit log stores of it. It holds no secret. */
  details: JsonObject;
  /** The event as the contract describes it, rendered at the first call and the same for all sinks. */
  body(): Promise<EventBody>;
}

/**
 * Something that events are handed to: the audit log, and later the deliveries of webhooks and the live stream. A sink that stores the
 * event does so through `tx`. A sink with another effect leaves it to `tx.afterCommit`.
 */
export interface EventSink {
  /** Whether the sink takes events of a type. The result never changes. */
  takes(type: EventType): boolean;
  /** Takes an event within the unit of work that causes it. An error undoes the unit. */
  take(tx: Transaction, event: EmittedEvent): Promise<void> | void;
}
