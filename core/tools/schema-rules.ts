import type { Ajv2020 } from 'ajv/dist/2020.js';
import { SCHEMA } from '../budgets.ts';
import { searchPatternProblem } from '../connectors/linear-pattern.ts';
import type { FieldError } from '../errors.ts';
import { dotted } from './field-path.ts';
import { isRecord } from './pointer.ts';
import { measureSchema, SchemaBoundsError } from './schema-bounds.ts';
import type { PatternEngine } from './schema-patterns.ts';
import type { JsonSchema } from './tool.ts';

const LISTS_OF_SCHEMAS = ['oneOf', 'anyOf', 'prefixItems'];
const CONSTRAINTS = ['type', 'enum', 'const', 'oneOf', 'anyOf', 'allOf', 'not', 'required', 'if'];

/** A compiler, and the engine of its patterns. */
export interface SchemaCheckers {
  compiler: Ajv2020;
  patterns: PatternEngine;
}

/**
 * Checks that a schema is self-contained and small enough, has only patterns that run in linear time, and can be
 * compiled. The compiled schema is discarded.
 *
 * @returns the problems, with paths that begin with `field`
 */
export function checkCompiles({ compiler, patterns }: SchemaCheckers, schema: JsonSchema, field: string): FieldError[] {
  try {
    measureSchema(schema);
  } catch (error) {
    if (error instanceof SchemaBoundsError) return [{ field: dotted(error.pointer, field), message: error.message }];
    throw error;
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA.bytes) {
    return [{ field, message: `must have at most ${SCHEMA.bytes} bytes as JSON` }];
  }
  const problems = checkPatterns(schema, field);
  if (problems.length > 0) return problems;
  try {
    // The compiler also validates the schema against the meta-schema, whose patterns need a budget of steps.
    patterns.within(() => compiler.compile(schema));
    return [];
  } catch (error) {
    return [{ field, message: error instanceof Error ? error.message : String(error) }];
  } finally {
    compiler.removeSchema(schema);
  }
}

/**
 * Checks that every object sets `additionalProperties`, every list sets `items`, and every value has a constraint such
 * as a type. Only `properties`, `additionalProperties`, `items`, `prefixItems`, `oneOf` and `anyOf` are followed, and
 * schemas whose `$comment` begins with `open:` are not checked.
 */
export function checkClosed(schema: unknown, field: string): FieldError[] {
  if (!isRecord(schema)) return [];
  if (typeof schema['$comment'] === 'string' && schema['$comment'].startsWith('open:')) return [];
  const problems: FieldError[] = [];
  const isConstrained = CONSTRAINTS.some((key) => Object.hasOwn(schema, key));
  if (!isConstrained) problems.push({ field, message: 'must have a constraint, such as a type' });
  const isObject = [schema['type']].flat().includes('object') || Object.hasOwn(schema, 'properties');
  const others = schema['additionalProperties'];
  if (isObject && others !== false && !isRecord(others)) {
    problems.push({ field, message: 'must set additionalProperties to false or to a schema' });
  }
  const isList = [schema['type']].flat().includes('array');
  if (isList && !isRecord(schema['items'])) problems.push({ field, message: 'must set items to a schema' });
  for (const key of ['items', 'additionalProperties']) problems.push(...checkClosed(schema[key], `${field}.${key}`));
  for (const key of LISTS_OF_SCHEMAS) {
    const children = Array.isArray(schema[key]) ? schema[key] : [];
    problems.push(...children.flatMap((child, index) => checkClosed(child, `${field}.${key}[${index}]`)));
  }
  for (const [name, child] of Object.entries(isRecord(schema['properties']) ? schema['properties'] : {})) {
    problems.push(...checkClosed(child, `${field}.properties.${name}`));
  }
  return problems;
}

/**
 * Checks that every regular expression runs in time linear in the value. With another expression, the author of a
 * schema could block the process.
 */
function checkPatterns(schema: unknown, field: string): FieldError[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]): FieldError[] => {
    const path = Array.isArray(schema) ? `${field}[${key}]` : `${field}.${key}`;
    const sources =
      key === 'pattern' && typeof value === 'string'
        ? [value]
        : key === 'patternProperties' && isRecord(value)
          ? Object.keys(value)
          : [];
    const problems = sources.map(searchPatternProblem).filter((problem) => problem !== undefined);
    return [...problems.map((message) => ({ field: path, message })), ...checkPatterns(value, path)];
  });
}
