import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';

/**
 * Returns the contract as bundled by `make generate`, for the validators. Each call reads it from disk, because the
 * backend resolves its references in place.
 */
export function readDefinition(): Document {
  const text = readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
  const definition = JSON.parse(text) as Document & {
    webhooks?: object;
    components: { schemas: Record<string, Discriminated> };
  };
  // Client generators need the mapping of a discriminator; Ajv takes the values from the branches and rejects a
  // mapping.
  for (const { discriminator } of Object.values(definition.components.schemas)) delete discriminator?.mapping;
  // Events are sent by the server, so they are not needed to validate requests.
  delete definition.webhooks;
  return definition;
}

interface Discriminated {
  discriminator?: { mapping?: unknown };
}
