import { directiveOf } from '../../core/tools/body-template.ts';
import { atPointer, isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema, ToolDefinition } from '../../core/tools/tool.ts';
import { parsePathTemplate } from '../../core/tools/url.ts';

/** What a tool sends at one place of its request. `always` is false if some calls send nothing there. */
export type Value =
  | { kind: 'input'; schema: JsonSchema; always: boolean }
  | { kind: 'constant'; value: unknown; always: true }
  | { kind: 'object'; members: Record<string, Value>; always: boolean }
  | { kind: 'list'; item: Value; always: boolean }
  /** Text, or anything whose type is not known before the call. */
  | { kind: 'text' | 'file' | 'unknown'; always: boolean };

/** The request of a tool: the path with its parameters, the query, and the body. */
export interface Sent {
  /** The path with § in the place of each value. */
  path: string;
  /** The values in the path, in order. */
  inPath: Value[];
  query: Record<string, Value>;
  body: Value | undefined;
}

export function sentBy(tool: ToolDefinition): Sent {
  const { request, pagination } = tool;
  const parsed = parsePathTemplate(request.path);
  const query: Record<string, Value> = {};
  const text = (parts: typeof parsed.path) => parts.map((part) => ('literal' in part ? part.literal : '§')).join('');
  const [path = '', fixed = ''] = text(parsed.path).split('?', 2);
  const literals = parsed.query.map((part) => ('literal' in part ? part.literal : '')).join('');
  for (const [name, value] of new URLSearchParams(`${fixed}&${literals.replace(/^\?/, '')}`)) {
    query[name] = { kind: 'constant', value, always: true };
  }
  for (const part of parsed.query) {
    if ('literal' in part) continue;
    for (const { name } of part.variables) query[name] = inputValue(tool, name);
  }
  for (const [name, template] of Object.entries(request.query ?? {})) query[name] = valueFrom(tool, template);
  for (const parameter of request.parameters ?? []) {
    if (parameter.in === 'query') query[parameter.name] = inputValue(tool, parameter.input);
  }
  const page = pagination?.request;
  if (page?.in === 'query' && query[page.name] === undefined) query[page.name] = { kind: 'unknown', always: false };
  const inPath = parsed.path.flatMap((part) =>
    'literal' in part ? [] : part.variables.map(({ name }) => inputValue(tool, name)),
  );
  const body = request.body?.value === undefined ? undefined : valueFrom(tool, request.body.value);
  return { path, inPath, query, body };
}

function inputValue({ input_schema }: ToolDefinition, name: string): Value {
  const properties = input_schema['properties'] as Record<string, JsonSchema>;
  const schema = properties[name] ?? {};
  const required = (input_schema['required'] as string[] | undefined) ?? [];
  if (schema['format'] === 'file') return { kind: 'file', always: required.includes(name) };
  return { kind: 'input', schema, always: required.includes(name) || schema['default'] !== undefined };
}

function valueFrom(tool: ToolDefinition, template: unknown, item?: JsonSchema): Value {
  const directive = directiveOf(template);
  if (directive) return directed(tool, directive.name, directive.argument, item);
  if (Array.isArray(template)) {
    const items = template.map((entry) => valueFrom(tool, entry, item));
    return {
      kind: 'list',
      item: items[0] ?? { kind: 'unknown', always: false },
      always: items.some(({ always }) => always),
    };
  }
  if (!isRecord(template)) return { kind: 'constant', value: template, always: true };
  const members = Object.fromEntries(
    Object.entries(template).map(([name, member]) => [name, valueFrom(tool, member, item)]),
  );
  const inside = Object.values(members);
  const free = inside.filter(({ kind }) => kind !== 'constant');
  return { kind: 'object', members, always: (free.length === 0 ? inside : free).some(({ always }) => always) };
}

function directed(tool: ToolDefinition, name: string, argument: unknown, item: JsonSchema | undefined): Value {
  switch (name) {
    case '$input':
      return inputValue(tool, String(argument));
    case '$file': {
      const { always } = inputValue(tool, String(argument));
      return { kind: 'file', always };
    }
    case '$literal':
      return { kind: 'constant', value: argument, always: true };
    case '$item':
      return {
        kind: 'input',
        schema: schemaAt(item ?? {}, String(argument)),
        always: isHeld(item ?? {}, String(argument)),
      };
    case '$join':
      return { kind: 'text', always: inputValue(tool, String((argument as { input: string }).input)).always };
    case '$each': {
      const { input, files, template } = argument as { input?: string; files?: string; template: unknown };
      const list = inputValue(tool, input ?? files ?? '');
      const held = list.kind === 'input' ? ((list.schema['items'] as JsonSchema | undefined) ?? {}) : {};
      const items = files === undefined ? held : { ...held, required: ['file_name', 'mime_type', 'content_base64'] };
      return { kind: 'list', item: valueFrom(tool, template, items), always: list.always };
    }
    case '$concat': {
      const parts = (argument as unknown[]).map((part) => valueFrom(tool, part, item));
      return { kind: 'text', always: parts.every(({ always }) => always) };
    }
    case '$merge': {
      // Parts that are not objects are ignored: customers name their members, so no description contains them.
      const parts = (argument as unknown[]).map((part) => valueFrom(tool, part, item));
      const members = parts.flatMap((part) => (part.kind === 'object' ? Object.entries(part.members) : []));
      return { kind: 'object', members: Object.fromEntries(members), always: parts.some(({ always }) => always) };
    }
    case '$json':
    case '$base64':
    case '$base64url':
    case '$email':
      return { kind: 'text', always: true };
    case '$html':
      return { kind: 'text', always: valueFrom(tool, argument, item).always };
    default:
      return { kind: 'text', always: true };
  }
}

function schemaAt(schema: JsonSchema, pointer: string): JsonSchema {
  const inner = pointer
    .split('/')
    .slice(1)
    .map((name) => `/properties/${name}`)
    .join('');
  const found = atPointer(schema, inner);
  return isRecord(found) ? found : {};
}

function isHeld(schema: JsonSchema, pointer: string): boolean {
  const name = pointer.slice(1);
  return name === '' || (Array.isArray(schema['required']) && schema['required'].includes(name));
}
