import type { ErrorObject } from 'ajv';
import { PROBLEM } from '../../core/budgets.ts';
import type { FieldError } from '../../core/errors.ts';
import { describePattern } from './pattern-descriptions.ts';

/** The maximum number of errors that are evaluated. */
const MAX_CONSIDERED = 500;
/** The maximum number of allowed names that a message lists. */
const MAX_NAMES = 30;

/**
 * Converts Ajv's errors to at most `PROBLEM.errors` fields with their messages. For a failed `oneOf`, only the branch
 * that the sender probably meant is reported: errors inside the value take precedence over errors about its keys.
 */
export function presentErrors(all: readonly ErrorObject[]): FieldError[] {
  const errors = all.slice(0, MAX_CONSIDERED);
  const unions = new Set(errors.filter((e) => e.keyword === 'oneOf').map((e) => e.instancePath));
  const seen = new Set<string>();
  const out: FieldError[] = [];
  for (const error of errors) {
    if (isNoiseOf(error, unions, errors)) continue;
    for (const entry of error.keyword === 'oneOf' ? presentUnion(error, errors) : [present(error)]) {
      const key = `${entry.field}\n${entry.message}`;
      if (!seen.has(key)) out.push(entry);
      if (out.length === PROBLEM.errors) return out;
      seen.add(key);
    }
  }
  return out;
}

/**
 * Whether an error is omitted. Errors about the value of a union itself are omitted, because `presentUnion` summarizes
 * them. The `oneOf` error is omitted, too, if there are errors inside the value.
 */
function isNoiseOf(error: ErrorObject, unions: ReadonlySet<string>, errors: readonly ErrorObject[]): boolean {
  if (!unions.has(error.instancePath)) return false;
  if (error.keyword !== 'oneOf') return true;
  return errors.some((other) => other.instancePath.startsWith(`${error.instancePath}/`));
}

/**
 * Returns errors about the type of a union's value, or about its keys: which are required, which exclude each other, or
 * which are unknown.
 */
function presentUnion(union: ErrorObject, errors: readonly ErrorObject[]): FieldError[] {
  const types = typesOf(union, errors);
  if (types.length > 0) return [{ field: fieldOf(union.instancePath), message: `must be ${types.join(' or ')}` }];
  const branches = branchesOf(union, errors);
  const choices = [...new Set(branches.flatMap((branch) => branch.allowed))];
  const sent = [...new Set(branches.flatMap((branch) => branch.extra))];
  const unknown = sent.filter((key) => !choices.includes(key));
  if (unknown.length > 0) {
    return unknown.map((key) => ({ field: fieldOf(union.instancePath, key), message: unknownField(choices) }));
  }
  const field = fieldOf(union.instancePath);
  const meant = branches.filter((branch) => branch.missing.length === 0 && branch.extra.length < sent.length);
  if (meant.length > 1) return [{ field, message: `must have only one of ${sent.join(', ')}` }];
  return choices.length > 0
    ? [{ field, message: `must have exactly one of ${choices.join(', ')}` }]
    : [{ field, message: 'must have one of the forms that the API reference (/docs) describes' }];
}

/** Returns the types that the branches of a union take; empty if the value has one of them. */
function typesOf(union: ErrorObject, errors: readonly ErrorObject[]): string[] {
  const own = errors.filter((error) => error.instancePath === union.instancePath && error.keyword !== 'oneOf');
  if (own.some(({ keyword }) => keyword !== 'type')) return [];
  return [...new Set(own.flatMap(typesIn))];
}

function typesIn({ params }: ErrorObject): string[] {
  return [params['type']].flat();
}

interface Branch {
  /** The keys that this branch has. */
  allowed: string[];
  missing: string[];
  /** The keys of the value that this branch does not have. */
  extra: string[];
}

/** Returns the errors of each branch of a union about the keys of the value. */
function branchesOf(union: ErrorObject, errors: readonly ErrorObject[]): Branch[] {
  const branches = new Map<unknown, Branch>();
  for (const { instancePath, keyword, params, parentSchema } of errors) {
    if (instancePath !== union.instancePath || keyword === 'oneOf') continue;
    const branch = branches.get(parentSchema) ?? { allowed: allowedBy(parentSchema), missing: [], extra: [] };
    branches.set(parentSchema, branch);
    if (keyword === 'required') branch.missing.push(String(params['missingProperty']));
    if (keyword === 'additionalProperties') branch.extra.push(String(params['additionalProperty']));
  }
  return [...branches.values()];
}

function present(error: ErrorObject): FieldError {
  const { keyword, params, instancePath, parentSchema } = error;
  if (keyword === 'required')
    return { field: fieldOf(instancePath, params['missingProperty']), message: 'is required' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
    const isParameter = instancePath === '/query';
    return { field: fieldOf(instancePath, name), message: unknownField(allowedBy(parentSchema), isParameter) };
  }
  if (keyword === 'propertyNames') {
    return { field: fieldOf(instancePath, params['propertyName']), message: 'has a name that is not allowed' };
  }
  if (keyword === 'discriminator') {
    const message = params['tagValue'] === undefined ? 'is required' : notInUnion(parentSchema, params['tag']);
    return { field: fieldOf(instancePath, params['tag']), message };
  }
  if (keyword === 'enum') {
    return { field: fieldOf(instancePath), message: `must be one of ${params['allowedValues'].join(', ')}` };
  }
  // Only a parameter that is repeated is a list.
  if (keyword === 'type' && instancePath.startsWith('/query/') && Array.isArray(error.data))
    return { field: fieldOf(instancePath), message: 'must not be repeated' };
  if (keyword === 'type') return { field: fieldOf(instancePath), message: `must be ${typesIn(error).join(' or ')}` };
  const words = keyword === 'pattern' ? describePattern(String(params['pattern'])) : undefined;
  return { field: fieldOf(instancePath), message: words ?? error.message ?? 'is invalid' };
}

/** Returns the message for an unknown tag of a union, with the known tags. */
function notInUnion(schema: unknown, tag: string): string {
  type Branch = { properties?: Record<string, { const?: unknown }> };
  const branches = (schema as { oneOf?: Branch[] } | undefined)?.oneOf ?? [];
  const tags = branches.flatMap(({ properties }) => properties?.[tag]?.const ?? []);
  const isComplete = tags.length > 0 && tags.length === branches.length;
  return isComplete ? `must be one of ${tags.join(', ')}` : 'is not one of the allowed values';
}

function unknownField(allowed: readonly string[], isParameter = false): string {
  const what = isParameter ? 'unknown parameter' : 'unknown field';
  if (allowed.length === 0) return what;
  const more = allowed.length > MAX_NAMES ? ', …' : '';
  return `${what} (allowed: ${allowed.slice(0, MAX_NAMES).join(', ')}${more})`;
}

function allowedBy(schema: unknown): string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}

/** Converts a path: `/requestBody/a/0/b` becomes `a[0].b`, `/query/page_size` becomes `page_size`. */
function fieldOf(instancePath: string, child?: unknown): string {
  const segments = instancePath.split('/').slice(2);
  if (child !== undefined) segments.push(String(child));
  const parts = segments.map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = parts.reduce(
    (left, part) => (/^\d+$/.test(part) ? `${left}[${part}]` : left ? `${left}.${part}` : part),
    '',
  );
  return path || 'body';
}
