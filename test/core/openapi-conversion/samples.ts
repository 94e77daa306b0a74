import {
  type ImportRequest,
  type ImportResult,
  importDocument,
} from '../../../core/openapi-conversion/import-document.ts';
import type { Tool } from '../../../core/tools/tool.ts';

/** Returns an OpenAPI 3.0 document with the given paths. */
export function documentOf(paths: object, more: object = {}): string {
  const info = { title: 'Acme', version: '1' };
  return JSON.stringify({ openapi: '3.0.3', info, servers: [{ url: 'https://api.acme.example/v1' }], paths, ...more });
}

export function importText(text: string, options: Partial<ImportRequest> = {}): Promise<ImportResult> {
  return importDocument({ files: [{ name: 'openapi.json', text }], connector: 'acme', ...options });
}

export function importPaths(paths: object, more: object = {}): Promise<ImportResult> {
  return importText(documentOf(paths, more));
}

/** Imports a document with one operation, GET /things by default, and returns its tool. */
export async function toolOf(operation: object, { path = '/things', method = 'get', more = {} } = {}): Promise<Tool> {
  const { tools, report } = await importPaths({ [path]: { [method]: operation } }, more);
  const [made] = tools;
  if (!made) throw new Error(`left out: ${JSON.stringify(report.left_out)}`);
  return made.tool;
}

export function propertiesOf(tool: Tool): Record<string, Record<string, unknown>> {
  return tool.input_schema['properties'] as Record<string, Record<string, unknown>>;
}

export function jsonBody(schema: object, required = true): object {
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

export function query(name: string, more: object = {}): object {
  return { name, in: 'query', schema: { type: 'string' }, ...more };
}
