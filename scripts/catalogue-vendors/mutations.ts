import { membersOf, requiredOf, typesOf } from '../../core/openapi-conversion/schema-view.ts';
import { successResponseOf } from '../../core/openapi-conversion/success-response.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema, ToolDefinition } from '../../core/tools/tool.ts';
import { compareTool, follow, MEDIA, MISSING, operationOf } from './compare.ts';
import { allMembers, allTypes, enumOf, listItems } from './compare-value.ts';
import { parametersOf } from './document.ts';
import type { VendorDocument, VendorOperation } from './vendor-document.ts';

type Data = Record<string, unknown>;
/** A copy of a tool that a mistake is made in. */
// biome-ignore lint/suspicious/noExplicitAny: mistakes break the types on purpose
type Draft = any;
/** A planted mistake: its name, and the function that makes it in a copy of a tool. */
type Mistake = [name: string, make: (draft: Draft) => void];

export interface Planted {
  planted: number;
  noticed: number;
  missed: string[];
}

/**
 * Plants mistakes in copies of a tool, one mistake in each copy, and counts those that the comparison notices. A
 * mistake is noticed if it changes the findings, or if the operation is not found. Only parts that the description
 * states are changed.
 */
export function plantMistakes(tool: ToolDefinition, vendor: VendorDocument, found: readonly string[]): Planted {
  const operation = operationOf(tool, vendor) as VendorOperation;
  const mistakes = [
    ...aboutRequest(tool, operation, vendor),
    ...aboutQuery(tool, vendor),
    ...aboutSchemas(tool, vendor),
    ...aboutResponse(tool, operation, vendor),
    ...aboutScopes(tool, operation, vendor),
  ];
  const result: Planted = { planted: 0, noticed: 0, missed: [] };
  for (const [name, make] of mistakes) {
    const draft = structuredClone(tool);
    make(draft);
    // Some mistakes change nothing, for example one in a parameter that comes from the account and has no schema.
    if (JSON.stringify(draft) === JSON.stringify(tool)) continue;
    result.planted += 1;
    const now = compareTool(draft, vendor);
    const isMoved = operationOf(draft, vendor)?.sourceId !== operation.sourceId;
    if (now === undefined || isMoved || now.join('\n') !== found.join('\n')) result.noticed += 1;
    else result.missed.push(name);
  }
  return result;
}

function aboutRequest(tool: ToolDefinition, operation: VendorOperation, vendor: VendorDocument): Mistake[] {
  const { resolve, read } = vendor;
  const { request, pagination } = tool;
  const mistakes: Mistake[] = vendor.operationFor
    ? []
    : [
        ['another method', ({ request: sent }) => (sent.method = sent.method === 'GET' ? 'POST' : 'GET')],
        [
          'a misspelt path',
          ({ request: sent }) => (sent.path = sent.path.replace(/^(\/(?:\{[^}]*\}\/)*)([A-Za-z]+)/, '$1x$2')),
        ],
      ];
  const inPath = /\{[?&]([^}]*)\}/.exec(request.path)?.[1]?.split(',') ?? [];
  for (const entry of inPath) {
    const name = entry.replace('*', '');
    mistakes.push([
      `the parameter ${name} under another name`,
      ({ request: sent }) => {
        sent.path = sent.path.replace(new RegExp(`([?&,])${RegExp.escape(entry)}(?=[,}])`), '$1made_up');
      },
    ]);
  }
  for (const name of Object.keys(request.query ?? {})) {
    mistakes.push([`the parameter ${name} under another name`, ({ request: { query } }) => renamed(query, name)]);
  }
  if (pagination?.request?.in === 'query') {
    mistakes.push(['another parameter for pages', (draft) => (draft.pagination.request.name = 'made_up')]);
  }
  const declared = resolve(operation.data['requestBody']);
  const content = isRecord(declared?.['content']) ? declared['content'] : {};
  const format = request.body?.format ?? 'none';
  const types = Object.keys(content);
  const media = types.find((type) => MEDIA[format].test(type));
  const other = format === 'json' ? 'form' : 'json';
  if (
    format !== 'none' &&
    format !== 'raw' &&
    media &&
    !types.some((type) => MEDIA[other].test(type) || type === '*/*')
  ) {
    mistakes.push(['another content type', (draft) => (draft.request.body.format = other)]);
  }
  const body = read(media === undefined ? undefined : resolve(content[media])?.['schema']) ?? {};
  const value = isRecord(request.body?.value) ? request.body.value : {};
  for (const name of Object.keys(value)) {
    if (!allMembers(body, read).has(name) || body['additionalProperties'] !== undefined) continue;
    mistakes.push([`the member ${name} under another name`, (draft) => renamed(draft.request.body.value, name)]);
  }
  const required = [
    ...parametersOf(operation, vendor).filter((parameter) => parameter.in === 'query' && parameter.required),
    ...[...requiredOf(body)].map((name) => ({ name })),
  ];
  for (const { name } of required) {
    mistakes.push([
      `without the required ${name}`,
      (draft) => {
        delete draft.request.query?.[name];
        delete draft.request.body?.value?.[name];
        draft.request.path = draft.request.path.replace(
          new RegExp(`([?&,])${RegExp.escape(name)}\\*?(?=[,}])`),
          '$1made_up',
        );
      },
    ]);
  }
  return mistakes;
}

/** Mistakes in the names of fields and arguments of a GraphQL query. */
function aboutQuery(tool: ToolDefinition, vendor: VendorDocument): Mistake[] {
  return (vendor.parts?.(tool) ?? []).map((at) => [
    `a misspelt name at ${at} of the query`,
    ({ request: { body } }) => (body.value.query = `${body.value.query.slice(0, at)}x${body.value.query.slice(at)}`),
  ]);
}

/** Mistakes in the schemas of inputs, at every level. */
function aboutSchemas(tool: ToolDefinition, vendor: VendorDocument): Mistake[] {
  const visited = visitedIn(tool, vendor);
  return visited.flatMap(({ own, view }, index): Mistake[] => {
    const change = (edit: (schema: Data) => void) => (draft: Draft) =>
      edit(visitedIn(draft, vendor)[index]?.own as Data);
    const types = allTypes(view, vendor.read);
    const values = enumOf(view, vendor.read);
    const mistakes: Mistake[] = [];
    if (types.size > 0 && !types.has('object'))
      mistakes.push([`another type of input ${index}`, change((schema) => (schema['type'] = 'object'))]);
    const isPlain = !typesOf(own as Data).some((type) => ['array', 'object'].includes(type));
    if (values && isPlain)
      mistakes.push([`another value of input ${index}`, change((schema) => (schema['enum'] = ['made up']))]);
    for (const key of ['maximum', 'maxLength', 'maxItems']) {
      if (typeof view[key] !== 'number' || Array.isArray(own['enum'])) continue;
      mistakes.push([
        `a higher ${key} of input ${index}`,
        change((schema) => (schema[key] = (view[key] as number) + 1)),
      ]);
    }
    if (typeof view['minimum'] === 'number' && !Array.isArray(own['enum'])) {
      mistakes.push([
        `a lower minimum of input ${index}`,
        change((schema) => (schema['minimum'] = (view['minimum'] as number) - 1)),
      ]);
    }
    return mistakes;
  });
}

function visitedIn(tool: ToolDefinition, vendor: VendorDocument): { own: JsonSchema; view: Data }[] {
  const visited: { own: JsonSchema; view: Data }[] = [];
  compareTool(tool, vendor, (own, view) => visited.push({ own, view }));
  return visited;
}

function aboutResponse(tool: ToolDefinition, operation: VendorOperation, { resolve, read }: VendorDocument): Mistake[] {
  const { schema } = successResponseOf(operation, resolve);
  if (schema === undefined) return [];
  const { response, pagination } = tool;
  const isStated = (node: unknown, pointer: string) => {
    const parent = follow(node, pointer.replace(/\/[^/]*$/, ''), read);
    if (parent === MISSING || parent === undefined) return false;
    const view = read(parent) ?? {};
    return membersOf(view).length > 0 && view['additionalProperties'] === undefined;
  };
  const mistakes: Mistake[] = [];
  const cursor = pagination?.response?.cursor;
  if (cursor && isStated(schema, cursor))
    mistakes.push(['another place of the cursor', (draft) => (draft.pagination.response.cursor += 'x')]);
  const select = response?.select ?? '';
  if (select !== '' && isStated(schema, select))
    mistakes.push(['another part of the response', (draft) => (draft.response.select += 'x')]);
  const selected = follow(schema, select, read);
  const list = selected === MISSING ? undefined : listItems(read(selected) ?? {}, read);
  response?.fields?.forEach((field, index) => {
    if (selected === MISSING || field.endsWith('*') || !isStated(list ?? selected, field)) return;
    mistakes.push([`the field ${field} misspelt`, (draft) => (draft.response.fields[index] += 'x')]);
  });
  return mistakes;
}

function aboutScopes({ scopes }: ToolDefinition, { data }: VendorOperation, { document }: VendorDocument): Mistake[] {
  const security = (data['security'] ?? document['security']) as Record<string, string[]>[] | undefined;
  const sets = (Array.isArray(security) ? security : []).map((entry) => Object.values(entry).flat());
  if (scopes.length === 0 || sets.length === 0 || sets.some((set) => set.length === 0)) return [];
  return [
    ['another scope', (draft) => (draft.scopes = [['made.up']])],
    ['no scopes', (draft) => (draft.scopes = [])],
  ];
}

function renamed(members: Data, name: string): void {
  members[`${name}_made_up`] = members[name];
  delete members[name];
}
