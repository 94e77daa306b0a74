import { itemsAt, membersNamed, otherMembers, SchemaWalk } from '../../../tools/applied-schemas.ts';
import { isRecord } from '../../../tools/pointer.ts';
import type { JsonSchema } from '../../../tools/tool.ts';
import type { Names } from './rename.ts';

type Data = Record<string, unknown>;

/**
 * Restores the server's property names in an input, which uses the names that `renameProperties` created. A member is
 * renamed if the schema describes it under its new name; other members keep their names.
 *
 * @param schema the stored schema, with the new names
 * @param names the server's property names, keyed by the new names
 */
export function toWireInput(input: Readonly<Data>, schema: JsonSchema, names: Names): Data {
  if (Object.keys(names).length === 0) return { ...input };
  const walk = new SchemaWalk(schema);
  const wireObject = (value: Readonly<Data>, schemas: readonly unknown[]): Data => {
    const applied = walk.applied(schemas);
    const renamed = Object.entries(value).map(([key, member]) => {
      const described = membersNamed(applied, key);
      const isOurs = described.length > 0 && Object.hasOwn(names, key);
      const below = described.length > 0 ? described : otherMembers(applied);
      return [isOurs ? (names[key] as string) : key, wireValue(member, below)] as const;
    });
    return Object.fromEntries(renamed);
  };
  const wireValue = (value: unknown, schemas: readonly unknown[]): unknown => {
    if (schemas.length === 0) return value;
    if (isRecord(value)) return wireObject(value, schemas);
    if (!Array.isArray(value)) return value;
    const applied = walk.applied(schemas);
    return value.map((item, index) => wireValue(item, itemsAt(applied, index)));
  };
  return wireObject(input, [schema]);
}
