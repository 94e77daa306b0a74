import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';

/**
 * The contract as `make generate` bundled it, for the validators. It is read from disk at each call, because the backend resolves
 * its references in place.
 */
export function readDefinition(): Document {
  const text = readFileSync(join(import.meta.dirname, '../generated/openapi.json'), 'utf8');
  const definition = JSON.parse(text) as Document & {
    webhooks?: object;
    components: { schemas: Record<string, Discriminated> };
  };
  // Client generators need the mapping of a discriminator; ajv takes the tags from the branches and refuses a mapping.
  for (const { discriminator } of Object.values(definition.components.schemas)) delete discriminator?.mapping;
  // Events are sent, not received.
  delete definition.webhooks;
  return definition;
}

interface Discriminated {
  discriminator?: { mapping?: unknown };
}
