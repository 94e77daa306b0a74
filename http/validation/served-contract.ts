import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';
import { generatedValidators, type Validators } from './validators.ts';

/** The parts of the contract that the server uses. */
export interface Contract {
  /**
   * The operations with their security schemes, media types and statuses. In place of a schema they have the name of
   * its validator.
   */
  readonly routes: Document;
  readonly validators: Validators;
}

/** Returns the contract as `make generate` has written it. */
export function readContract(): Contract {
  const text = readFileSync(join(import.meta.dirname, '../../generated/routes.json'), 'utf8');
  return { routes: JSON.parse(text) as Document, validators: generatedValidators };
}
