import type { ErrorObject } from 'ajv';
import type { FieldError } from '../core/errors.ts';
import { wordsOfPattern } from './pattern-words.ts';

const MAX_ERRORS = 20;

/**
 * Turns the errors of ajv into fields and sentences for a person. Of a failed `oneOf` only the branch that the sender meant is
 * reported: errors inside the value beat complaints of the other branches about its keys.
 */
export function presentErrors(errors: readonly ErrorObject[]): FieldError[] {
  const unions = errors.filter((e) => e.keyword === 'oneOf').map((e) => e.instancePath);
  const seen = new Set<string>();
  const out: FieldError[] = [];
  for (const error of errors) {
    if (isNoiseOf(error, unions, errors)) continue;
    const entry = error.keyword === 'oneOf' ? presentUnion(error, errors) : present(error);
    const key = `${entry.field}\n${entry.message}`;
    if (!seen.has(key)) out.push(entry);
    seen.add(key);
  }
  return out.slice(0, MAX_ERRORS);
}

/** An error at the union itself is noise; its `oneOf` error is too when something inside the union is wrong. */
function isNoiseOf(error: ErrorObject, unions: string[], errors: readonly ErrorObject[]): boolean {
  if (!unions.includes(error.instancePath)) return false;
  if (error.keyword !== 'oneOf') return true;
  return errors.some((other) => other.instancePath.startsWith(`${error.instancePath}/`));
}

/** Says which keys the value may hold one of, which of them it holds too many of, or which key its form does not know. */
function presentUnion(union: ErrorObject, errors: readonly ErrorObject[]): FieldError {
  const branches = branchesOf(union, errors);
  const sent = new Set(branches.flatMap((branch) => branch.extra));
  const meant = branches.filter((branch) => branch.missing.length === 0 && branch.extra.length < sent.size);
  const unknown = [...sent].find((key) => meant.every((branch) => branch.extra.includes(key)));
  if (meant.length > 0 && unknown !== undefined) {
    return { field: fieldOf(union.instancePath, unknown), message: 'is not known here' };
  }
  const field = fieldOf(union.instancePath);
  if (meant.length > 1) return { field, message: `must hold only one of ${[...sent].join(', ')}` };
  const choices = [...new Set(branches.flatMap((branch) => branch.missing))];
  const message =
    choices.length > 0 ? `must hold exactly one of ${choices.join(', ')}` : 'fits none of the allowed forms';
  return { field, message };
}

/** What each form of a union says of the keys of the value: which it misses, and which it does not know. */
function branchesOf(union: ErrorObject, errors: readonly ErrorObject[]): { missing: string[]; extra: string[] }[] {
  const branches = new Map<string, { missing: string[]; extra: string[] }>();
  for (const { instancePath, keyword, params, schemaPath } of errors) {
    if (instancePath !== union.instancePath || keyword === 'oneOf') continue;
    const path = schemaPath.slice(0, schemaPath.lastIndexOf('/'));
    const branch = branches.get(path) ?? { missing: [], extra: [] };
    branches.set(path, branch);
    if (keyword === 'required') branch.missing.push(String(params['missingProperty']));
    if (keyword === 'additionalProperties') branch.extra.push(String(params['additionalProperty']));
  }
  return [...branches.values()];
}

function present(error: ErrorObject): FieldError {
  const { keyword, params, instancePath } = error;
  if (keyword === 'required')
    return { field: fieldOf(instancePath, params['missingProperty']), message: 'is required' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
    return { field: fieldOf(instancePath, name), message: 'is not known here' };
  }
  if (keyword === 'propertyNames') {
    return { field: fieldOf(instancePath, params['propertyName']), message: 'has a name that is not allowed' };
  }
  if (keyword === 'discriminator') {
    const message = params['tagValue'] === undefined ? 'is required' : 'is not one of the allowed values';
    return { field: fieldOf(instancePath, params['tag']), message };
  }
  if (keyword === 'enum') {
    return { field: fieldOf(instancePath), message: `must be one of ${params['allowedValues'].join(', ')}` };
  }
  const words = keyword === 'pattern' ? wordsOfPattern(String(params['pattern'])) : undefined;
  return { field: fieldOf(instancePath), message: words ?? error.message ?? 'is not valid' };
}

/** `/requestBody/a/0/b` → `a[0].b`; `/query/page_size` → `page_size`. */
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
