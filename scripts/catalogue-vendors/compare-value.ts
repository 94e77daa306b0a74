import {
  branchesOf,
  membersOf,
  requiredOf,
  type SchemaReader,
  typesOf,
} from '../../core/openapi-conversion/schema-view.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';
import type { Value } from './sent.ts';

type Data = Record<string, unknown>;

/** Where a value is sent. In JSON a value has a type; in an address or a form every value becomes text. */
export interface Place {
  at: string;
  isText: boolean;
  read: SchemaReader;
  /** Receives each schema of the tool that the description has a counterpart for. */
  visit?(own: JsonSchema, view: Data): void;
}

/** Compares what a tool sends at one place with the schema of the description. @returns findings, one sentence each */
export function compareValue(value: Value, node: unknown, place: Place): string[] {
  const view = place.read(node) ?? {};
  switch (value.kind) {
    case 'input':
      return compareSchemas(value.schema, node, place);
    case 'constant':
      return isRecord(value.value) || Array.isArray(value.value) ? [] : compareConstant(value.value, view, place);
    case 'object':
      return compareMembers(value.members, view, place);
    case 'list': {
      const items = listItems(view, place.read);
      if (items === undefined) return hasAnyType(view, place.read) ? [] : [`${place.at}: is not a list`];
      return compareValue(value.item, items, { ...place, at: `${place.at}/*` });
    }
    case 'text':
    case 'file':
    case 'unknown':
      return [];
  }
}

function compareMembers(members: Record<string, Value>, view: Data, place: Place): string[] {
  const known = allMembers(view, place.read);
  const isOpen = known.size === 0 || isRecord(view['additionalProperties']) || view['additionalProperties'] === true;
  const findings = Object.entries(members).flatMap(([name, member]) => {
    const at = `${place.at}/${name}`;
    const schema = known.get(name);
    if (schema === undefined) return isOpen ? [] : [`${at}: is not in the description`];
    // A request may contain a read-only `id`: it refers to another object, and descriptions often use that object's own
    // schema there, in which the id is read-only.
    if (name !== 'id' && place.read(schema)?.['readOnly'] === true) return [`${at}: is read-only`];
    return compareValue(member, schema, { ...place, at });
  });
  const missing = [...requiredOf(view)].filter((name) => {
    const schema = place.read(known.get(name)) ?? {};
    return !members[name]?.always && schema['readOnly'] !== true && schema['default'] === undefined;
  });
  return [...findings, ...missing.map((name) => `${place.at}/${name}: is required`)];
}

function compareConstant(value: unknown, view: Data, { at, isText, read }: Place): string[] {
  const values = enumOf(view, read);
  if (values && !values.some((allowed) => String(allowed) === String(value)))
    return [`${at}: ${value} is not among the values`];
  const types = allTypes(view, read);
  const type = value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;
  return isText || types.size === 0 || types.has(type) || (type === 'integer' && types.has('number'))
    ? []
    : [`${at}: is ${[...types].join(' or ')}, not ${type}`];
}

/** Compares the schema of an input with that of the description: types, values and limits. */
function compareSchemas(own: JsonSchema, node: unknown, place: Place): string[] {
  const { at, isText, read } = place;
  const view = read(node) ?? {};
  place.visit?.(own, view);
  const types = allTypes(view, read);
  const mine = typesOf(own as Data).filter((type) => type !== 'null');
  const findings: string[] = [];
  for (const type of mine)
    if (types.size > 0 && !fits(type, types, own, isText))
      findings.push(`${at}: is ${[...types].join(' or ')}, not ${type}`);
  const values = enumOf(view, read);
  const listed = [
    ...((own['enum'] as unknown[] | undefined) ?? []),
    ...(own['default'] === undefined ? [] : [own['default']]),
  ];
  const isPlain = !mine.includes('array') && !mine.includes('object');
  for (const value of isPlain && values ? listed : []) {
    if (value !== null && !values?.some((allowed) => String(allowed) === String(value)))
      findings.push(`${at}: ${value} is not among the values`);
  }
  findings.push(...limits(own, view, at));
  if (mine.includes('array')) {
    const items = listItems(view, read);
    if (items !== undefined && isRecord(own['items']))
      findings.push(...compareSchemas(own['items'], items, { ...place, at: `${at}/*` }));
  }
  const properties = isRecord(own['properties']) ? (own['properties'] as Record<string, JsonSchema>) : undefined;
  if (mine.includes('object') && properties) {
    const required = Array.isArray(own['required']) ? own['required'] : [];
    const members = Object.entries(properties).map(([name, schema]): [string, Value] => [
      name,
      { kind: 'input', schema, always: required.includes(name) || schema['default'] !== undefined },
    ]);
    findings.push(...compareMembers(Object.fromEntries(members), view, place));
  }
  return findings;
}

function fits(type: string, types: ReadonlySet<string>, own: JsonSchema, isText: boolean): boolean {
  if (types.has(type) || (type === 'integer' && types.has('number'))) return true;
  if (!isText) return false;
  if (types.has('array')) return ['string', 'integer'].includes(type);
  if (type === 'string') {
    // In an address, a number and a text of digits are the same.
    const digits = /^\^?[-+?()[\]0-9{},*\\d]*\$?$/.test(String(own['pattern'] ?? 'x'));
    const values = Array.isArray(own['enum']) ? own['enum'] : undefined;
    return (
      types.has('string') ||
      digits ||
      (types.has('boolean') && values?.every((value) => ['true', 'false'].includes(String(value))) === true)
    );
  }
  return types.has('string') && ['integer', 'number', 'boolean'].includes(type);
}

function limits(own: JsonSchema, view: Data, at: string): string[] {
  const beyond = (key: string, isBeyond: (mine: number, theirs: number) => boolean): string[] => {
    const theirs = view[key];
    const mine = own[key];
    // A pattern or a format may also limit the length of a text. They are not compared, so such a text is not reported.
    const isBounded = mine === undefined && key.endsWith('Length') && (own['pattern'] ?? own['format']) !== undefined;
    if (typeof theirs !== 'number' || Array.isArray(own['enum']) || isBounded) return [];
    return typeof mine !== 'number' || isBeyond(mine, theirs)
      ? [`${at}: ${key} is ${theirs}, not ${mine ?? 'open'}`]
      : [];
  };
  const above = (mine: number, theirs: number) => mine > theirs;
  const below = (mine: number, theirs: number) => mine < theirs;
  return [
    ...['maximum', 'maxLength', 'maxItems'].flatMap((key) => beyond(key, above)),
    ...['minimum'].flatMap((key) => beyond(key, below)),
    ...['minLength', 'minItems'].flatMap((key) => (view[key] === 0 ? [] : beyond(key, below))),
  ];
}

/**
 * Returns the members of an object, including those of its alternatives. If several alternatives have a member of the
 * same name, any of their schemas may apply to it.
 */
export function allMembers(view: Data, read: SchemaReader, depth = 0): Map<string, unknown> {
  const inside = depth > 4 ? [] : branchesOf(view).map((branch) => allMembers(read(branch) ?? {}, read, depth + 1));
  const found = Map.groupBy(
    inside.flatMap((members) => [...members]),
    ([name]) => name,
  );
  const joined = [...found].map(([name, entries]): [string, unknown] => {
    const schemas = [...new Set(entries.map(([, schema]) => schema))];
    return [name, schemas.length > 1 ? { anyOf: schemas } : schemas[0]];
  });
  return new Map([...joined, ...membersOf(view)]);
}

/** Returns the types of a schema, including those of its alternatives; empty if any type is allowed. */
export function allTypes(view: Data, read: SchemaReader, depth = 0): Set<string> {
  const own = typesOf(view);
  const branches = depth > 4 ? [] : branchesOf(view);
  if (own.length === 0 && membersOf(view).length > 0 && branches.length === 0) return new Set(['object']);
  if (own.length > 0 || branches.length === 0)
    return new Set(own.filter((type) => type !== 'null' || own.length === 1));
  const inside = branches.map((branch) => allTypes(read(branch) ?? {}, read, depth + 1));
  return inside.some((types) => types.size === 0) ? new Set() : new Set(inside.flatMap((types) => [...types]));
}

export function listItems(view: Data, read: SchemaReader, depth = 0): unknown {
  if (view['items'] !== undefined) return view['items'];
  if (depth > 4) return undefined;
  return branchesOf(view)
    .map((branch) => listItems(read(branch) ?? {}, read, depth + 1))
    .find((items) => items !== undefined);
}

export function enumOf(view: Data, read: SchemaReader): unknown[] | undefined {
  if (Array.isArray(view['enum'])) return view['enum'];
  if (view['const'] !== undefined) return [view['const']];
  const branches = branchesOf(view).map((branch) => enumOf(read(branch) ?? {}, read));
  return branches.length > 0 && branches.every((values) => values !== undefined) ? branches.flat() : undefined;
}

function hasAnyType(view: Data, read: SchemaReader): boolean {
  const types = allTypes(view, read);
  return types.size === 0 || types.has('array');
}
