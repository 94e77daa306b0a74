import { readFile } from 'node:fs/promises';
import { loadDocument } from '../../core/openapi-conversion/load.ts';
import { normalise } from '../../core/openapi-conversion/normalise.ts';
import { listOperations, type Operation } from '../../core/openapi-conversion/operations.ts';
import { createResolver, type Resolver } from '../../core/openapi-conversion/resolve.ts';
import { createSchemaReader, type SchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import { FOLDER, locationOf, type Source } from './source.ts';

/** An operation of a description whose path a tool's path can be matched with. */
export interface VendorOperation extends Operation {
  matcher: RegExp;
  /** The parameters of the path, in order. */
  names: string[];
  /** The number of characters of the path that are not parameters. */
  fixed: number;
}

export interface VendorDocument {
  source: Source;
  document: Record<string, unknown>;
  operations: VendorOperation[];
  resolve: Resolver;
  read: SchemaReader;
}

export async function openDocument(source: Source, folder = FOLDER): Promise<VendorDocument> {
  const text = await readFile(locationOf(source, folder), 'utf8');
  const document = await normalise(readDocument(source.file, text));
  if (source.unneeded) dropRequired(document, new Set(source.unneeded));
  const resolve = createResolver(document);
  const operations = listOperations(document, resolve).flatMap((operation): VendorOperation[] => {
    const path = source.without ? operation.path.replaceAll(source.without, '') : operation.path;
    const own = belowPrefix(path, source.under ?? '');
    if (own === undefined) return [];
    const names = [...own.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
    // A part after # distinguishes operations of one path; the one without it is the plain one.
    const fixed = (own.split('#', 1)[0] ?? '').replace(/\{[^}]*\}/g, '').length - (own.includes('#') ? 0.5 : 0);
    return [{ ...operation, matcher: matcherOf((source.prefix ?? '') + own, source), names, fixed }];
  });
  return { source, document, operations, resolve, read: createSchemaReader(resolve) };
}

function dropRequired(node: unknown, names: ReadonlySet<string>): void {
  if (Array.isArray(node)) for (const item of node) dropRequired(item, names);
  if (!isRecord(node)) return;
  for (const value of Object.values(node)) dropRequired(value, names);
  if (Array.isArray(node['required'])) node['required'] = node['required'].filter((name) => !names.has(String(name)));
}

/** Reads JSON without the limits of imports, because descriptions may be larger than those that users import. */
function readDocument(name: string, text: string): Record<string, unknown> {
  if (name.endsWith('.json')) return JSON.parse(text.replace(/^\uFEFF/, '')) as Record<string, unknown>;
  return loadDocument([{ name, text }]);
}

function belowPrefix(path: string, under: string): string | undefined {
  if (under === '') return path;
  const pattern = new RegExp(
    `^${under
      .split(/\{[^}]*\}/)
      .map(escaped)
      .join('[^/]+')}(?=/|$)`,
  );
  const found = pattern.exec(path);
  return found ? path.slice(found[0].length) : undefined;
}

function matcherOf(path: string, { deep }: Source): RegExp {
  const plain = path.split(/[?#]/, 1)[0] ?? '';
  const parts = plain
    .replace(/\/$/, '')
    .split(/\{[^}]*\}/)
    .map(escaped);
  return new RegExp(`^${parts.join(deep ? '(.+)' : '([^/]+)')}/?$`);
}

/** Returns a text as a pattern that matches only this text. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A parameter of an operation; one of the operation overrides one of its path. */
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
