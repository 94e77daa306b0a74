import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, createCatalogue } from '../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import { createAuditSink } from '../core/events/audit-sink.ts';
import { createEvents, type Events } from '../core/events/events.ts';
import { createRenderer } from '../core/events/renderer.ts';

const CATALOGUE = join(import.meta.dirname, '../generated/catalogue.json');

/** Creates the object with which operator commands emit events. Its only sink stores the events in the audit log. */
export function createOperatorEvents(newId: (prefix: 'aud' | 'evt') => string, catalogue: Catalogue): Events {
  return createEvents({
    now: Date.now,
    newId,
    renderer: createRenderer({ catalogue }),
    sinks: [createAuditSink(newId)],
  });
}

export function readCatalogue(): Catalogue {
  return createCatalogue(readCatalogueIndex(readFileSync(CATALOGUE, 'utf8')));
}
