import { successResponseOf } from '../../core/openapi-conversion/success-response.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema, ToolBody, ToolDefinition, ToolHints, ToolPagination } from '../../core/tools/tool.ts';
import type { Comparison } from '../catalogue-files.ts';
import { compareTool, operationOf } from '../catalogue-vendors/compare.ts';
import type { StampedDocument } from '../catalogue-vendors/stamps.ts';
import type { Drafts, InputWords, ToolWords } from './drafts.ts';
import { contentOf, type Described, type Input, placed, readKey } from './places.ts';
import { keptSchema, responseSchema } from './response-schema.ts';

const CAPITALS = /\b(id|ids|url|urls|api|csv|pdf|sms|dns|crm|sql|ssl|ip|html|json|seo|faq|acl|sso|ai|hr)\b/g;
const HINTS: Record<NonNullable<ToolWords['hint']>, [boolean, boolean, boolean]> = {
  read: [true, false, true],
  add: [false, false, false],
  set: [false, true, true],
  once: [false, false, true],
  end: [false, true, false],
};
const USUAL: Record<string, NonNullable<ToolWords['hint']>> = { GET: 'read', HEAD: 'read', POST: 'add', DELETE: 'set' };

const KEYS = new Set(
  'do call says title scope hint use in fixed origin format media_type from keep gives page try eg differs'.split(' '),
);

/** Creates a tool from its author's words and the API's own description of the operation. */
export function toolOf(
  entry: ToolWords,
  tag: string,
  drafts: Drafts,
  documents: readonly StampedDocument[],
): ToolDefinition & { compared?: Comparison } {
  checkKeys(entry);
  const [method = '', path = ''] = entry.call.split(' ') as [ToolDefinition['request']['method'], string];
  const found = documentOf(method, path, documents);
  const fixed = entry.fixed ?? drafts.usual?.fixed ?? {};
  const inputs = inputsOf(entry, drafts, { method, path, fixed, api: found?.api });
  const hint = entry.hint ?? USUAL[method] ?? 'set';
  const keep = entry.keep?.startsWith('@') ? drafts.keeps?.[entry.keep.slice(1)] : entry.keep;
  if (entry.keep?.startsWith('@') && keep === undefined) throw new Error(`the list ${entry.keep} does not exist`);
  const fields = keep?.split(' ').map((field) => `/${field}`);
  const select = entry.from ?? (isOpaque(entry) ? undefined : drafts.usual?.from);
  const scope = entry.scope ?? drafts.usual?.scope;
  const scopes = scope === undefined ? [] : drafts.scopes?.[scope];
  if (!scopes) throw new Error(`there are no scopes ${scope}`);
  const title = entry.title ?? titleOf(entry.do);
  const tool: ToolDefinition = {
    name: `${drafts.connector}_${entry.do}`,
    title,
    description: descriptionOf(entry.says, hint),
    tags: [tag],
    hints: hintsOf(hint, method, !drafts.closed),
    scopes,
    input_schema: schemaOf(inputs),
    output_schema: outputOf(entry, drafts, select, fields, found?.api),
    examples: [
      {
        input: {
          ...Object.fromEntries(inputs.filter(({ required }) => required).map(({ key, sample }) => [key, sample])),
          ...entry.try,
        },
        note: entry.eg ?? `${title}.`,
      },
    ],
    request: requestOf(entry, { method, path, fixed, api: found?.api, lists: drafts.lists }, inputs),
    ...pagesOf(entry, drafts, inputs, select),
    ...responseOf(entry, select, fields),
  };
  if (found) return { ...tool, compared: comparisonOf(tool, entry, drafts, found) };
  return drafts.with === undefined ? tool : { ...tool, compared: { with: drafts.with, on: drafts.on } };
}

/**
 * Reports unknown keys. This also detects missing quotes: in a YAML mapping on one line, a text without quotes ends at
 * its first comma, and the rest of the text becomes a key.
 */
function checkKeys(entry: ToolWords): void {
  const unknown = Object.keys(entry).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) throw new Error(`unknown keys: ${unknown.join(', ')}`);
}

/** Whether a response has no members that could be selected, because it is a file, a text or empty. */
function isOpaque({ gives }: ToolWords): boolean {
  return gives === 'none' || gives === 'file' || gives === 'text';
}

/**
 * Returns the record of when and with which description a tool was compared. It lists the reviewed differences: the
 * tool's own, and those that are listed for the connector and that the tool has.
 */
function comparisonOf(
  tool: ToolDefinition,
  entry: ToolWords,
  drafts: Drafts,
  { stamp, api }: { stamp: string; api: Described },
): Comparison {
  const findings = drafts.differs ? (compareTool(tool, api.vendor) ?? []) : [];
  const common = Object.entries(drafts.differs ?? {}).filter(([finding]) => findings.includes(finding));
  const differs = { ...Object.fromEntries(common), ...entry.differs };
  return { with: stamp, on: drafts.on, ...(Object.keys(differs).length > 0 && { differs }) };
}

function documentOf(method: string, path: string, documents: readonly StampedDocument[]) {
  const probe = { request: { method, path }, input_schema: { properties: {} } } as unknown as ToolDefinition;
  const found = documents.flatMap(({ stamp, vendor }) => {
    const operation = operationOf(probe, vendor);
    return operation ? [{ stamp, api: { operation, vendor } }] : [];
  });
  return found.sort((a, b) => b.api.operation.fixed - a.api.operation.fixed)[0];
}

interface Where {
  method: string;
  path: string;
  fixed: Record<string, unknown>;
  api: Described | undefined;
}

function inputsOf(entry: ToolWords, drafts: Drafts, { method, path, fixed, api }: Where): Input[] {
  const variables = [...path.matchAll(/\{[+]?([a-z][a-z0-9_]*)\}/g)].map(([, name = '']) => name);
  const templates = new Set(
    [...JSON.stringify(fixed).matchAll(/"(?:\$input|\$file|input)":"(\w+)"/g)].map(([, name = '']) => name),
  );
  const common = new Map(
    Object.entries(drafts.inputs ?? {}).map(([text, words]) => [readKey(text).key, { text, words }]),
  );
  const wanted = new Map<string, { text: string; words: InputWords }>();
  for (const name of variables) wanted.set(name, { text: name, words: null });
  for (const text of (entry.use ?? '').split(' ').filter(Boolean)) wanted.set(readKey(text).key, { text, words: null });
  for (const [text, words] of Object.entries(entry.in ?? {})) wanted.set(readKey(text).key, { text, words });
  const where = { method, path: variables, templates, api };
  return [...wanted].map(([key, { text, words }]) => {
    const usual = common.get(key);
    const chosen = words ?? usual?.words;
    if (chosen === undefined || chosen === null) throw new Error(`there is no text for the input ${key}`);
    const own = readKey(text);
    const shared = usual && readKey(usual.text);
    const at = own.at ?? shared?.at;
    return placed(`${key}${own.mark || (shared?.mark ?? '')}${at ? `=${at}` : ''}`, chosen, where);
  });
}

function schemaOf(inputs: readonly Input[]): JsonSchema {
  const required = inputs.filter((input) => input.required).map(({ key }) => key);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(inputs.map(({ key, schema }) => [key, schema])),
  };
}

function requestOf(
  entry: ToolWords,
  { method, path, fixed, api, lists }: Where & { lists: ToolBody['lists'] },
  inputs: readonly Input[],
): ToolDefinition['request'] {
  const plain: string[] = [];
  const query: Record<string, unknown> = {};
  const headers: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  let whole: unknown;
  const put = (at: string, template: unknown) => {
    if (at.startsWith('?')) query[at.slice(1)] = template;
    else if (at.startsWith('^')) headers[at.slice(1)] = template;
    else if (at === '/') whole = template;
    else set(body, at, template);
  };
  for (const { key, place, schema } of inputs) {
    const isFile = schema['format'] === 'file' || (isRecord(schema['items']) && schema['items']['format'] === 'file');
    const template = isFile ? { $file: key } : { $input: key };
    if (place.in === 'query' && place.name === key && schema['type'] !== 'array') plain.push(key);
    else if (place.in === 'query' && place.list === 'joined' && schema['type'] === 'array')
      put(`?${place.name}`, { $join: { input: key, separator: ',' } });
    else if (place.in === 'query') put(`?${place.name}`, template);
    else if (place.in === 'header') put(`^${place.name}`, template);
    else if (place.in === 'body') put(place.pointer, template);
  }
  for (const [at, template] of Object.entries(fixed)) put(at, template);
  const value = whole ?? (Object.keys(body).length > 0 ? body : undefined);
  const tail = plain.length === 0 ? '' : `{${path.includes('?') ? '&' : '?'}${plain.join(',')}}`;
  const format = entry.format ?? formatOf(Object.keys(contentOf(api)));
  return {
    method: method as ToolDefinition['request']['method'],
    ...(entry.origin && { origin: entry.origin }),
    path: path + tail,
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(value !== undefined && {
      body: {
        format,
        ...(format === 'form' && lists && { lists }),
        ...(entry.media_type && { media_type: entry.media_type }),
        value,
      },
    }),
  } as ToolDefinition['request'];
}

function formatOf(types: readonly string[]): ToolBody['format'] {
  if (types.length === 0 || types.some((type) => /json|\*/.test(type))) return 'json';
  if (types.some((type) => type.includes('urlencoded'))) return 'form';
  return types.some((type) => type.startsWith('multipart')) ? 'multipart' : 'json';
}

function set(body: Record<string, unknown>, pointer: string, template: unknown): void {
  const names = pointer.split('/').slice(1);
  const last = names.pop() ?? '';
  let node = body;
  for (const name of names) {
    node[name] ??= {};
    node = node[name] as Record<string, unknown>;
  }
  node[last] = template;
}

function pagesOf(
  entry: ToolWords,
  drafts: Drafts,
  inputs: readonly Input[],
  select: string | undefined,
): { pagination?: ToolPagination } {
  const name = entry.page ?? drafts.usual?.page;
  if (name === undefined || name === 'none') return {};
  const pages = drafts.pages?.[name];
  if (!pages) throw new Error(`there are no pages ${name}`);
  const { page_size_input: size, ...request } = pages.request ?? {};
  const isOffered = inputs.some(({ key }) => key === size);
  const needsItems = ['page', 'offset'].includes(pages.style) && pages.response?.items === undefined;
  return {
    pagination: {
      ...pages,
      ...(pages.request && { request: { ...request, ...(isOffered && { page_size_input: size }) } }),
      ...(needsItems && { response: { ...pages.response, items: select ?? '' } }),
    } as ToolPagination,
  };
}

function responseOf(
  { gives }: ToolWords,
  select: string | undefined,
  fields: string[] | undefined,
): Pick<ToolDefinition, 'response'> {
  if (gives === 'file') return { response: { file: true } };
  if (!select && !fields) return {};
  return { response: { ...(select && { select }), ...(fields && { fields }) } };
}

function outputOf(
  entry: ToolWords,
  drafts: Drafts,
  select: string | undefined,
  fields: string[] | undefined,
  api: Described | undefined,
): JsonSchema {
  const { gives, do: name } = entry;
  if (gives === 'none') return { description: 'The response has no content.', type: 'null' };
  if (gives === 'text') return { type: 'string' };
  if (gives === 'file') return { type: 'object', description: 'A file.' };
  const isList = gives === 'list' || (gives !== 'object' && /^(list|search|find)_/.test(name));
  if (!fields) return gives === 'list' ? { type: 'array' } : { type: 'object' };
  const schema = api && successResponseOf(api.operation, api.vendor.resolve).schema;
  if (schema === undefined || !api || isReviewed(entry, drafts, select)) return keptSchema(fields, isList);
  return responseSchema(schema, api.vendor.read, select, fields, drafts.any);
}

/**
 * Whether a reviewer has accepted that the response differs from the description, which then does not give its type.
 */
function isReviewed(entry: ToolWords, drafts: Drafts, select: string | undefined): boolean {
  const own = Object.keys(entry.differs ?? {}).some((finding) => finding.startsWith('response'));
  return (
    own || (select !== undefined && drafts.differs?.[`response ${select}: is not in the description`] !== undefined)
  );
}

function hintsOf(hint: NonNullable<ToolWords['hint']>, method: string, isOpen: boolean): ToolHints {
  const [reads, destroys, repeats] = HINTS[hint];
  const hints = { read_only: reads, destructive: destroys, idempotent: repeats, open_world: isOpen };
  const usual: Record<string, boolean> = {
    PUT: !reads && repeats,
    PATCH: !reads,
    DELETE: destroys && repeats,
    POST: true,
  };
  const isUsual = usual[method] ?? reads;
  return isUsual ? hints : { ...hints, reason: 'The operation differs from what its method usually means.' };
}

function descriptionOf(says: string, hint: string): string {
  return hint === 'read' && !/changes nothing/i.test(says) ? `${says.trim()} Changes nothing.` : says.trim();
}

function titleOf(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replace(CAPITALS, (word) =>
      word
        .toUpperCase()
        .replace(/S$/, word.length > 2 && word.endsWith('s') && word !== 'dns' && word !== 'sms' ? 's' : 'S'),
    );
  return words[0]?.toUpperCase() + words.slice(1);
}
