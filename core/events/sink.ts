import type { JsonObject, Transaction } from '../../db/store.ts';
import type { Cause } from './cause.ts';
import type { EventBody, EventType } from './types.ts';

/** An event that is passed to the sinks. */
export interface EmittedEvent {
  type: EventType;
  subject: string;
  cause: Cause;
  /** Milliseconds UTC. */
  at: number;
  /** The part of the event that the audit log stores. It contains no secret. */
  details: JsonObject;
  /** Returns the event as the contract describes it. It is rendered at the first call and shared by all sinks. */
  body(): Promise<EventBody>;
}

/**
 * A receiver of events, for example the audit log or the deliveries of webhooks. A sink that stores the event does so
 * through `tx`; any other effect must wait until `tx.afterCommit`.
 */
export interface EventSink {
  /** Whether the sink accepts events of a type. The result never changes. */
  accepts(type: EventType): boolean;
  /** Handles an event in the unit of work that causes it. An error rolls the unit back. */
  handle(tx: Transaction, event: EmittedEvent): Promise<void> | void;
}
