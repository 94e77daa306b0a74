import type { ValidateFunction } from 'ajv';
import { createCatalogue } from '../../core/connectors/catalogue.ts';
import { createAuditSink } from '../../core/events/audit-sink.ts';
import { createEvents, type Events } from '../../core/events/events.ts';
import { createRenderer } from '../../core/events/renderer.ts';
import type { EventSink } from '../../core/events/sink.ts';
import type { EventType } from '../../core/events/types.ts';
import type { IdPrefix } from '../../core/ids.ts';
import { eventsOf, type JsonObject } from '../../scripts/openapi-document.ts';
import { compile, contract } from '../contract/contract.ts';
import { recordEvent } from './coverage.ts';

const DECLARED = new Map(eventsOf(contract).map((event) => [event.type, event]));
const validators = new Map<EventType, ValidateFunction>();

/**
 * Renders every event, and fails the unit of work if the event violates the contract: an unknown name, invalid data, or
 * a subject other than the one that `x-subject` points to.
 */
export const checkEvents: EventSink = {
  accepts: () => true,
  async handle(_tx, { type, subject, body }) {
    const declared = DECLARED.get(type);
    if (!declared) throw new Error(`the contract does not declare the event ${type}`);
    const validate = validators.get(type) ?? compile(declared.media['schema'], 'response');
    validators.set(type, validate);
    // The event as it is delivered.
    const event = JSON.parse(JSON.stringify(await body())) as JsonObject;
    if (!validate(event)) throw new Error(`${type} differs from the contract: ${JSON.stringify(validate.errors)}`);
    const shown = valueAt(event['data'], declared.subject);
    if (shown !== subject) throw new Error(`${type} has the subject ${subject}, and its data names ${shown}`);
    recordEvent(type);
  },
};

function valueAt(data: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<unknown>((value, step) => (value as JsonObject)[step], data);
}

/** Events whose sinks are the audit log and the check, for engines without a server. */
export function testEvents(
  { now, newId }: { now(): number; newId(prefix: IdPrefix): string },
  catalogue = createCatalogue({ connectors: {}, tools: new Map() }),
): Events {
  return createEvents({
    now,
    newId,
    renderer: createRenderer({ catalogue }),
    sinks: [createAuditSink(newId), checkEvents],
  });
}
