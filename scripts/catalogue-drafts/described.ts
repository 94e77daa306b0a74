import { isBinary, requiredOf, type SchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import { fileInputSchema } from '../../core/tools/file-input.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';
import { allMembers, allTypes, enumOf, listItems } from '../catalogue-vendors/compare-value.ts';

const FORMATS = new Set(['date', 'date-time', 'email', 'uri', 'uuid']);
const ORDER = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];
const MAX_VALUES = 60;
const MAX_MEMBERS = 30;
const MAX_DEPTH = 4;

/**
 * Returns the schema of a tool's input from the schema in the API's description, with types, values and limits, and
 * without texts. Objects in it allow no other members.
 *
 * @throws Error if the schema has no type, is nested too deeply, or has an object without fixed members or with too
 * many
 */
export function described(node: unknown, read: SchemaReader, depth = 0): JsonSchema {
  const view = read(node) ?? {};
  if (isBinary(view)) return fileInputSchema('');
  const types = allTypes(view, read);
  const type = ORDER.find((name) => types.has(name));
  if (type === undefined || depth > MAX_DEPTH) throw new Error('the description has no type for it: say one');
  const limits = Object.fromEntries(
    LIMITS.flatMap((key) =>
      typeof view[key] === 'number' && Number.isSafeInteger(view[key]) ? [[key, view[key]]] : [],
    ),
  );
  if (type === 'array') {
    return { type, ...limits, items: described(listItems(view, read) ?? { type: 'string' }, read, depth + 1) };
  }
  if (type === 'object') return { type, ...members(view, read, depth) };
  const values = enumOf(view, read)?.filter((value) => value !== null && value !== '');
  if (values && values.length > 0 && values.length <= MAX_VALUES) return { type, enum: [...new Set(values)] };
  const format = FORMATS.has(String(view['format'])) && type === 'string' ? { format: view['format'] } : {};
  return { type, ...limits, ...format };
}

function members(view: Record<string, unknown>, read: SchemaReader, depth: number): JsonSchema {
  const all = [...allMembers(view, read)].filter(([, member]) => {
    const { readOnly, deprecated } = read(member) ?? {};
    return readOnly !== true && deprecated !== true;
  });
  if (all.length === 0 || all.length > MAX_MEMBERS) throw new Error('is an object without fixed members: say its type');
  const names = new Set(all.map(([name]) => name));
  const required = [...requiredOf(view)].filter((name) => names.has(name));
  return {
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(all.map(([name, member]) => [name, described(member, read, depth + 1)])),
  };
}
