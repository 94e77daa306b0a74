import { LRUCache } from 'lru-cache';
import { SCHEMA } from '../budgets.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { OutputJobRequest } from './output-checker.ts';
import { createOutputValidator } from './output-validator.ts';

const KEPT = 50;
const validator = createOutputValidator(KEPT, SCHEMA.threadPatternSteps);
const schemas = new LRUCache<string, JsonSchema>({ max: KEPT });

/** Returns whether the result of a tool matches its output schema. It runs in a worker thread. */
export function run({ schema, data }: OutputJobRequest): boolean {
  const known = schemas.get(schema.key) ?? (JSON.parse(schema.json) as JsonSchema);
  schemas.set(schema.key, known);
  return validator.fits(known, JSON.parse(data));
}
