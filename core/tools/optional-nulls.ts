import { type Applied, itemsAt, membersNamed, otherMembers, SchemaWalk } from './applied-schemas.ts';
import { isRecord } from './pointer.ts';
import type { JsonSchema } from './tool.ts';

const TYPED = ['type', 'enum', 'const', 'allOf', 'anyOf', 'oneOf', '$ref'];

/**
 * Removes members that are null if the schema neither allows null nor requires the member. Models that must name every
 * input, for example in strict function calls, write null for omitted ones.
 *
 * @param input is modified
 * @returns whether a member was removed
 */
export function removeOptionalNulls(input: Record<string, unknown>, schema: JsonSchema): boolean {
  const walk = new SchemaWalk(schema);
  let removed = false;
  const visit = (value: unknown, schemas: readonly unknown[]) => {
    if (typeof value !== 'object' || value === null) return;
    const applied = walk.applied(schemas);
    if (applied.length === 0) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, itemsAt(applied, index));
    } else if (isRecord(value)) {
      for (const [key, member] of Object.entries(value)) {
        const described = membersNamed(applied, key);
        if (member !== null) visit(member, described.length > 0 ? described : otherMembers(applied));
        else if (described.length > 0 && !takesNull(walk, described) && !isRequired(applied, key)) {
          delete value[key];
          removed = true;
        }
      }
    }
  };
  visit(input, [schema]);
  return removed;
}

function takesNull(walk: SchemaWalk, schemas: readonly unknown[]): boolean {
  if (schemas.includes(true)) return true;
  return walk
    .applied(schemas)
    .some(
      (schema) =>
        [schema['type']].flat().includes('null') ||
        (Array.isArray(schema['enum']) && schema['enum'].includes(null)) ||
        schema['const'] === null ||
        TYPED.every((word) => schema[word] === undefined),
    );
}

/** Whether every schema that describes a member requires it. */
function isRequired(applied: Applied, key: string): boolean {
  return applied
    .filter((schema) => membersNamed([schema], key).length > 0)
    .every(({ required }) => Array.isArray(required) && required.includes(key));
}
