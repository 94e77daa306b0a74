import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';

/** The contract as `make generate` bundled it. Read anew at each call: the backend resolves its references in place. */
export function readDefinition(): Document {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../generated/openapi.json'), 'utf8')) as Document;
}
