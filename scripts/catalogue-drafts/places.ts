import { requiredOf } from '../../core/openapi-conversion/schema-view.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';
import { follow, MISSING } from '../catalogue-vendors/compare.ts';
import { allMembers } from '../catalogue-vendors/compare-value.ts';
import { parametersOf } from '../catalogue-vendors/document.ts';
import type { VendorDocument, VendorOperation } from '../catalogue-vendors/vendor-document.ts';
import { described } from './described.ts';
import type { InputWords } from './drafts.ts';
import { sampleOf, typed } from './typed.ts';

/** Where an input is sent. */
export type Place =
  | { in: 'path' | 'template' }
  | { in: 'query'; name: string; list?: 'joined' | 'repeated' }
  | { in: 'header'; name: string }
  | { in: 'body'; pointer: string };

export interface Input {
  key: string;
  place: Place;
  schema: JsonSchema;
  required: boolean;
  sample: unknown;
}

/** An operation of the API's description, with its document. */
export interface Described {
  operation: VendorOperation;
  vendor: VendorDocument;
}

/** Reads the key of an input: its name, whether it is required, and where it is sent. */
export function readKey(text: string): { key: string; mark: string; at: string | undefined } {
  const found = /^([a-z][a-z0-9_]*)([!?]?)(?:=(.+))?$/.exec(text);
  if (!found) throw new Error(`${text} is not an input`);
  return { key: found[1] as string, mark: found[2] as string, at: found[3] };
}

/** An input whose place is known, and whose description is not known yet. */
interface Found {
  place: Place;
  node?: unknown;
  required?: boolean;
}

/** Returns an input with its place, type and sample. */
export function placed(
  text: string,
  words: Exclude<InputWords, null>,
  where: { method: string; path: readonly string[]; templates: ReadonlySet<string>; api: Described | undefined },
): Input {
  const { key, mark, at } = readKey(text);
  const found = find(key, at, where);
  const [type, description, sample] = typeof words === 'string' ? [undefined, words, undefined] : words;
  const schema: JsonSchema = { ...schemaOf(key, type, found, where.api), description };
  const required = mark === '!' || (mark !== '?' && (found.place.in === 'path' || found.required === true));
  return {
    key,
    place: found.place,
    schema,
    required: required && schema['default'] === undefined,
    sample: sample ?? sampleOf(schema),
  };
}

function schemaOf(key: string, type: unknown, { node, place }: Found, api: Described | undefined): JsonSchema {
  if (type !== undefined) return typed(type);
  if (node === undefined || !api) throw new Error(`${key}: is not in the description of the API: say its type`);
  try {
    const schema = described(node, api.vendor.read);
    return place.in === 'path' && schema['type'] === 'string' && !schema['enum']
      ? { ...schema, minLength: 1, maxLength: Math.min(Number(schema['maxLength'] ?? 200), 1000) }
      : schema;
  } catch (error) {
    throw new Error(`${key}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function find(
  key: string,
  at: string | undefined,
  { method, path, templates, api }: Parameters<typeof placed>[2],
): Found {
  if (path.includes(key)) return { place: { in: 'path' }, node: api && pathNode(path.indexOf(key), api) };
  if (at === '~') return { place: { in: 'template' } };
  if (at?.startsWith('?')) return inQuery(at.slice(1), api);
  if (at?.startsWith('^')) return { place: { in: 'header', name: at.slice(1) } };
  if (at?.startsWith('/')) return inBody(at, api);
  if (templates.has(key)) return { place: { in: 'template' } };
  const body = bodySchema(api);
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE';
  const names = body && api ? [...allMembers(api.vendor.read(body) ?? {}, api.vendor.read).keys()] : [];
  const member = hasBody && names.find((name) => isSame(name, key));
  if (member) return inBody(`/${member}`, api);
  const parameter =
    api && parametersOf(api.operation, api.vendor).find((one) => one.in === 'query' && isSame(one.name, key));
  if (parameter) return inQuery(parameter.name, api);
  return hasBody ? inBody(`/${key}`, api) : inQuery(key, api);
}

function isSame(name: string, key: string): boolean {
  const plain = (text: string) => text.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
  return plain(name) === plain(key);
}

function pathNode(index: number, { operation, vendor }: Described): unknown {
  const name = operation.names[index];
  return parametersOf(operation, vendor).find((one) => one.in === 'path' && one.name === name)?.schema;
}

function inQuery(name: string, api: Described | undefined): Found {
  const parameter =
    api && parametersOf(api.operation, api.vendor).find((one) => one.in === 'query' && one.name === name);
  if (!parameter) return { place: { in: 'query', name } };
  const list = parameter.explode === false ? 'joined' : 'repeated';
  return { place: { in: 'query', name, list }, node: parameter.schema, required: parameter.required };
}

function inBody(pointer: string, api: Described | undefined): Found {
  const place: Place = { in: 'body', pointer };
  const body = bodySchema(api);
  if (!api || body === undefined) return { place };
  const node = follow(body, pointer, api.vendor.read);
  if (node === MISSING || node === undefined) return { place };
  const cut = pointer.lastIndexOf('/');
  const parent = follow(body, pointer.slice(0, cut), api.vendor.read);
  const required = parent !== MISSING && requiredOf(api.vendor.read(parent) ?? {}).has(pointer.slice(cut + 1));
  return { place, node, required };
}

/** Returns the schema of the request body. */
function bodySchema(api: Described | undefined): unknown {
  const content = contentOf(api);
  const media = Object.keys(content).find((type) => /json/.test(type)) ?? Object.keys(content)[0];
  return media === undefined ? undefined : api?.vendor.resolve(content[media])?.['schema'];
}

export function contentOf(api: Described | undefined): Record<string, unknown> {
  const body = api?.vendor.resolve(api.operation.data['requestBody']);
  return isRecord(body?.['content']) ? body['content'] : {};
}
