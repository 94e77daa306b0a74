import type { OpenAPI3 } from 'openapi-typescript';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { stringify } from 'yaml';
import { bundleSpec } from './bundle.ts';
import type { JsonObject } from './openapi-document.ts';
import { secretPaths } from './secret-paths.ts';

/** The contract in one file, as it is served. */
export const BUNDLE = 'openapi.json';

/** What follows from `spec/`, by file name in `generated/`. The same input gives the same bytes. */
export async function contractFiles(): Promise<Record<string, string>> {
  const document = await bundleSpec();
  return {
    [BUNDLE]: asJson(document),
    'openapi.yaml': stringify(document, { aliasDuplicateObjects: false, lineWidth: 130 }),
    'api.d.ts': await types(document),
    'secret-paths.json': asJson(secretPaths(document)),
  };
}

/** The generator completes discriminators in place, hence the copy. */
async function types(document: JsonObject): Promise<string> {
  const copy = structuredClone(document) as unknown as OpenAPI3;
  const nodes = await openapiTS(copy, { alphabetize: true, readWriteMarkers: true, silent: true });
  return COMMENT_HEADER + astToString(nodes);
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
