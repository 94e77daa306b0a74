import { branchesOf, type SchemaReader, typesOf } from '../../core/openapi-conversion/schema-view.ts';
import { successResponseOf } from '../../core/openapi-conversion/success-response.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import { allMembers, allTypes, compareValue, listItems, type Place } from './compare-value.ts';
import { parametersOf } from './document.ts';
import { type Sent, sentBy } from './sent.ts';
import type { VendorDocument, VendorOperation } from './vendor-document.ts';

/**
 * Finds the operation of a vendor's description that a tool calls: the one with the tool's method and the most exact
 * matching path, or for GraphQL the one of the tool's query. @returns undefined if the description has none
 */
export function operationOf(tool: ToolDefinition, vendor: VendorDocument): VendorOperation | undefined {
  const { operations, operationFor } = vendor;
  if (operationFor) return operationFor(tool);
  const { path } = sentBy(tool);
  return operations
    .filter(({ method, matcher }) => method === tool.request.method && matcher.test(path))
    .filter(({ header }) => header === undefined || tool.request.headers?.[header[0]] === header[1])
    .sort((a, b) => b.fixed - a.fixed)[0];
}

/**
 * Compares a tool with the operation that it calls.
 *
 * @returns findings, one sentence each; the same difference always gives the same sentence. undefined if the
 * description does not have the operation
 */
export function compareTool(
  tool: ToolDefinition,
  vendor: VendorDocument,
  visit?: Place['visit'],
): string[] | undefined {
  const operation = operationOf(tool, vendor);
  if (operation === undefined) return undefined;
  const sent = sentBy(tool);
  return [
    ...new Set([
      ...(vendor.findings?.(tool) ?? []),
      ...comparePath(sent, operation, vendor, visit),
      ...compareQuery(sent, operation, vendor, visit),
      ...compareBody(tool, sent, operation, vendor, visit),
      ...comparePlaces(sent, operation, vendor),
      ...compareResponse(tool, operation, vendor),
      ...compareScopes(tool, operation, vendor),
    ]),
  ];
}

function comparePath(sent: Sent, operation: VendorOperation, vendor: VendorDocument, visit: Place['visit']): string[] {
  const { read } = vendor;
  const schemas = new Map(parametersOf(operation, vendor).map((parameter) => [parameter.name, parameter.schema]));
  const [, ...texts] = operation.matcher.exec(sent.path) ?? [];
  const values = [...sent.inPath];
  return texts.flatMap((text, index) => {
    const parts = values.splice(0, text.split('§').length - 1);
    const name = operation.names[index] ?? '';
    const [value] = parts;
    if (text !== '§' || value === undefined || !schemas.has(name)) return [];
    return compareValue(value, schemas.get(name), { at: `path ${name}`, isText: true, read, ...(visit && { visit }) });
  });
}

function compareQuery(
  { query }: Sent,
  operation: VendorOperation,
  vendor: VendorDocument,
  visit: Place['visit'],
): string[] {
  const { read } = vendor;
  const known = parametersOf(operation, vendor).filter((parameter) => parameter.in === 'query');
  const plain = (name: string) => name.replace(/\[.*$|\.\w+$/, '');
  const findings = Object.entries(query).flatMap(([name, value]) => {
    const found = known.find((parameter) => parameter.name === name);
    if (found)
      return compareValue(value, found.schema, { at: `query ${name}`, isText: true, read, ...(visit && { visit }) });
    const isMember = known.some((parameter) => plain(parameter.name) === plain(name) && parameter.name !== name);
    return isMember && /[[.]/.test(name + known.map((parameter) => parameter.name).join(''))
      ? []
      : [`query ${name}: is not in the description`];
  });
  const missing = known.filter(({ name, required }) => required && !query[name]?.always);
  return [...findings, ...missing.map(({ name }) => `query ${name}: is required`)];
}

export const MEDIA = {
  json: /json/,
  form: /x-www-form-urlencoded/,
  multipart: /multipart|mixed/,
  raw: /./,
  none: /./,
} as const;

function compareBody(
  tool: ToolDefinition,
  { body }: Sent,
  operation: VendorOperation,
  vendor: VendorDocument,
  visit: Place['visit'],
): string[] {
  const { resolve, read } = vendor;
  const declared = resolve(operation.data['requestBody']);
  const format = tool.request.body?.format ?? 'none';
  const content = isRecord(declared?.['content']) ? declared['content'] : {};
  if (body === undefined || format === 'none') {
    return declared?.['required'] === true ? ['body: is required'] : [];
  }
  if (!declared) return ['body: is not in the description'];
  const types = Object.keys(content);
  const media =
    types.find((type) => MEDIA[format].test(type)) ?? (vendor.source.json && format === 'json' ? types[0] : undefined);
  if (media === undefined)
    return types.length === 0 || types.includes('*/*') ? [] : [`body: is sent as ${types.join(' or ')}, not ${format}`];
  if (format === 'raw') return [];
  const schema = resolve(content[media])?.['schema'];
  const place = { at: 'body', isText: format === 'form', read, ...(visit && { visit }) };
  return schema === undefined ? [] : compareValue(body, schema, place);
}

/**
 * Finds members of the body that are also parameters of the query. Descriptions often use the schema of the whole
 * resource for a body, but the API ignores the members that it reads from the query.
 */
function comparePlaces({ query, body }: Sent, operation: VendorOperation, vendor: VendorDocument): string[] {
  if (body?.kind !== 'object') return [];
  const parameters = parametersOf(operation, vendor).filter((parameter) => parameter.in === 'query');
  return parameters
    .filter(({ name }) => body.members[name] !== undefined && query[name] === undefined)
    .map(({ name }) => `body/${name}: is also a parameter of the query`);
}

function compareResponse(
  tool: ToolDefinition,
  operation: VendorOperation,
  { resolve, read }: VendorDocument,
): string[] {
  const { schema } = successResponseOf(operation, resolve);
  if (schema === undefined) return [];
  const { response = {}, pagination, output_schema: output } = tool;
  const findings: string[] = [];
  const at = (node: unknown, pointer: string, label: string): unknown => {
    const found = follow(node, pointer, read);
    if (found === MISSING) findings.push(`response ${label}${pointer}: is not in the description`);
    return found === MISSING ? undefined : found;
  };
  for (const pointer of [
    pagination?.response?.cursor,
    pagination?.response?.has_more,
    pagination?.response?.total,
    pagination?.response?.items,
  ]) {
    if (pointer) at(schema, pointer, '');
  }
  const selected = response.select ? at(schema, response.select, '') : schema;
  if (selected === undefined) return findings;
  const list = listItems(read(selected) ?? {}, read);
  for (const field of response.fields ?? []) at(list ?? selected, field, response.select ?? '');
  findings.push(...compareOutput(output, selected, `response ${response.select ?? ''}`, read));
  return findings;
}

/** Compares the types that a tool promises with those of the description. */
function compareOutput(output: unknown, node: unknown, label: string, read: SchemaReader, depth = 0): string[] {
  if (!isRecord(output) || depth > 8) return [];
  const view = read(node) ?? {};
  const types = allTypes(view, read);
  const mine = typesOf(output).filter((type) => type !== 'null');
  const known = new Set([...types, ...(types.has('number') ? ['integer'] : [])]);
  if (mine.length > 0 && types.size > 0 && !mine.some((type) => known.has(type))) {
    return [`${label}: is ${[...types].join(' or ')}, not ${mine.join(' or ')}`];
  }
  if (types.has('string') && mine.join() === 'array') return [`${label}: can also be string`];
  const items = listItems(view, read);
  if (isRecord(output['items']) && items !== undefined)
    return compareOutput(output['items'], items, `${label}/*`, read, depth + 1);
  const members = allMembers(view, read);
  return Object.entries(isRecord(output['properties']) ? output['properties'] : {}).flatMap(([name, member]) => {
    if (!members.has(name)) return [];
    const theirs = members.get(name);
    const at = `${label}/${name}`;
    const lacksNull = isTyped(member) && !canBeNull(member, read) && canBeNull(theirs, read);
    return [...(lacksNull ? [`${at}: can also be null`] : []), ...compareOutput(member, theirs, at, read, depth + 1)];
  });
}

const isTyped = (schema: unknown) => isRecord(schema) && schema['type'] !== undefined;

/** Whether a schema states that null is possible. */
function canBeNull(node: unknown, read: SchemaReader, depth = 0): boolean {
  const view = read(node) ?? {};
  const branches = depth > 4 ? [] : branchesOf(view);
  return typesOf(view).includes('null') || branches.some((branch) => canBeNull(branch, read, depth + 1));
}

export const MISSING = Symbol('missing');

/**
 * Follows a pointer through schemas; `*` stands for any item of a list or any member of an object.
 *
 * @returns MISSING if the description has no such member; undefined if it does not describe the members there
 */
export function follow(node: unknown, pointer: string, read: SchemaReader): unknown {
  let found = node;
  for (const segment of pointer.split('/').slice(1)) {
    const view = read(found) ?? {};
    const items = listItems(view, read);
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    const members = allMembers(view, read);
    const values = isRecord(view['additionalProperties']) ? view['additionalProperties'] : undefined;
    if (items !== undefined && (name === '*' || /^\d+$/.test(name))) found = items;
    else if (members.has(name)) found = members.get(name);
    else if (values !== undefined) found = values;
    else if (name === '*' && members.size > 0) found = [...members.values()][0];
    else return members.size === 0 && items === undefined ? undefined : MISSING;
  }
  return found;
}

function compareScopes(
  tool: ToolDefinition,
  { data }: VendorOperation,
  { document, source }: VendorDocument,
): string[] {
  const security = (data['security'] ?? document['security']) as Record<string, string[]>[] | undefined;
  const listed = (Array.isArray(security) ? security : []).map((entry) => Object.values(entry).flat());
  const sets = source.anyScope ? listed.flatMap((set) => set.map((scope) => [scope])) : listed;
  if (sets.length === 0 || sets.some((set) => set.length === 0)) return [];
  const isEnough = (own: readonly string[]) => sets.some((set) => set.every((scope) => own.includes(scope)));
  if (tool.scopes.length === 0) return ['scopes: none, but the description requires some'];
  return tool.scopes.filter((own) => !isEnough(own)).map((own) => `scopes: ${own.join(' ')} is not enough`);
}
