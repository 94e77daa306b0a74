import { readFile } from 'node:fs/promises';
import { bundle } from '../../core/openapi-conversion/bundle.ts';
import { loadDocument, parseText } from '../../core/openapi-conversion/load.ts';
import { normalise } from '../../core/openapi-conversion/normalise.ts';
import { listOperations, type Operation } from '../../core/openapi-conversion/operations.ts';
import { createResolver } from '../../core/openapi-conversion/resolve.ts';
import { createSchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import { openGraphql } from './graphql.ts';
import { fromHyperSchema, isHyperSchema } from './hyper-schema.ts';
import { FOLDER, locationOf, type Source } from './source.ts';
import type { VendorDocument, VendorOperation } from './vendor-document.ts';

export async function openDocument(source: Source, folder = FOLDER): Promise<VendorDocument> {
  if (source.file.endsWith('.graphql')) return openGraphql(source, folder);
  const document = await normalise(await readDocument(source, folder));
  if (source.unneeded) dropRequired(document, new Set(source.unneeded));
  if (source.small) beginSmall(document);
  const resolve = createResolver(document);
  const operations = listOperations(document, resolve).flatMap((operation): VendorOperation[] => {
    const path = source.without ? operation.path.replaceAll(source.without, '') : operation.path;
    const own = belowPrefix(path, source.under ?? '');
    if (own === undefined) return [];
    const names = [...own.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
    // A path can end with `#` and a text, which distinguishes operations of one path. The operation without this ending
    // is the general one and is preferred.
    const fixed = (own.split('#', 1)[0] ?? '').replace(/\{[^}]*\}/g, '').length - (own.includes('#') ? 0.5 : 0);
    const matcher = matcherOf((source.prefix ?? '') + own, source);
    const [, header, value] = /#(X-[\w-]+)=(.*)$/.exec(own) ?? [];
    const marks = header !== undefined && value !== undefined && { header: [header, value] as [string, string] };
    return [{ ...operation, matcher, names, fixed, ...marks }];
  });
  return { source, document, operations, resolve, read: createSchemaReader(resolve) };
}

function dropRequired(node: unknown, names: ReadonlySet<string>): void {
  if (Array.isArray(node)) for (const item of node) dropRequired(item, names);
  if (!isRecord(node)) return;
  for (const value of Object.values(node)) dropRequired(value, names);
  if (Array.isArray(node['required'])) node['required'] = node['required'].filter((name) => !names.has(String(name)));
}

function beginSmall(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const value of Object.values(node)) beginSmall(value);
  const { properties, required } = node as Record<string, unknown>;
  const small = (name: unknown) => String(name).replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  if (isRecord(properties))
    Object.assign(node, {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [small(key), value])),
    });
  if (Array.isArray(required)) Object.assign(node, { required: required.map(small) });
}

/** Reads JSON without the limits of imports, because descriptions may be larger than those that users import. */
async function readDocument(source: Source, folder: URL): Promise<Record<string, unknown>> {
  const files = await Promise.all(
    [...new Set([source.file, ...(source.beside ?? [])])].map(async (file) => ({
      name: file,
      text: (await readFile(locationOf({ ...source, file }, folder), 'utf8')).replaceAll(source.home ?? '\uFEFF', ''),
    })),
  );
  const [{ name, text } = { name: '', text: '' }] = files;
  if (source.beside) {
    const parsed = files.map((file) => ({ name: file.name, data: parseText(file.text, file.name) }));
    return bundle({ name, data: parsed[0]?.data as Record<string, unknown> }, parsed);
  }
  if (name.endsWith('.json')) {
    const document = JSON.parse(text.replace(/^\uFEFF/, '')) as Record<string, unknown>;
    return isHyperSchema(document) ? fromHyperSchema(document) : document;
  }
  return loadDocument(files);
}

function belowPrefix(path: string, under: string): string | undefined {
  if (under === '') return path;
  const pattern = new RegExp(
    `^${under
      .split(/\{[^}]*\}/)
      .map(RegExp.escape)
      .join('[^/]+')}(?=/|$)`,
  );
  const found = pattern.exec(path);
  return found ? path.slice(found[0].length) : undefined;
}

function matcherOf(path: string, { deep, suffix = '' }: Source): RegExp {
  const plain = path.split(/[?#]/, 1)[0] ?? '';
  const parts = plain
    .replace(/\/$/, '')
    .split(/\{[^}]*\}/)
    .map(RegExp.escape);
  return new RegExp(`^${parts.join(deep ? '(.+)' : '([^/]+?)')}${RegExp.escape(suffix)}/?$`);
}

/** A parameter of an operation or of its path. A parameter of the operation overrides that of the path. */
export interface VendorParameter {
  name: string;
  in: string;
  required: boolean;
  /** False if a list is one value with commas. */
  explode: boolean;
  schema: unknown;
}

export function parametersOf(
  { data, item }: Operation,
  { resolve, source }: Pick<VendorDocument, 'resolve' | 'source'>,
): VendorParameter[] {
  const found = new Map<string, VendorParameter>();
  for (const list of [item['parameters'], data['parameters']]) {
    for (const node of Array.isArray(list) ? list : []) {
      const parameter = resolve(node);
      if (!parameter) continue;
      const content = isRecord(parameter['content']) ? Object.values(parameter['content']).map(resolve)[0] : undefined;
      const name = String(parameter['name']);
      found.set(`${parameter['in']} ${name}`, {
        name,
        in: String(parameter['in']),
        required: parameter['required'] === true,
        explode: parameter['explode'] !== false,
        schema: parameter['schema'] ?? content?.['schema'] ?? {},
      });
    }
  }
  return [...found.values()].filter(({ name }) => !source.credentials?.includes(name));
}
