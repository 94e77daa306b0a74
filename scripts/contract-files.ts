import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OpenAPI3 } from 'openapi-typescript';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { stringify } from 'yaml';
import { bundleSpec, SPEC_ROOT } from './bundle.ts';
import { placed } from './contract-places.ts';
import { breaksOfContractRules, schemasAreNotRecursive } from './contract-rules.ts';
import { serveContract } from './contract-validators.ts';
import { type JsonObject, objectAt } from './openapi-document.ts';
import { secretPaths } from './secret-paths.ts';

/** The bundled contract, as it is served. */
export const BUNDLE = 'openapi.json';

/**
 * Returns the files that are generated from `spec/`, by name in `generated/`, and the violated project rules. The same
 * input always gives the same bytes.
 */
export async function makeContract(): Promise<{ files: Record<string, string>; problems: string[] }> {
  const document = await bundleSpec();
  const folder = dirname(SPEC_ROOT);
  const recursive = [...schemasAreNotRecursive(document)].map((finding) => placed(finding, folder));
  if (recursive.length > 0) throw new Error(recursive.join('\n'));
  const problems = breaksOfContractRules(document).map((finding) => placed(finding, folder));
  const { routes, modules } = serveContract(document);
  const files = {
    [BUNDLE]: asJson(document),
    'openapi.yaml': stringify(document, { aliasDuplicateObjects: false, lineWidth: 130 }),
    'api.d.ts': await types(document),
    'secret-paths.json': asJson(secretPaths(document)),
    'routes.json': `${JSON.stringify(routes)}\n`,
    ...Object.fromEntries(Object.entries(modules).map(([name, code]) => [`validators/${name}.cjs`, code])),
  };
  return { files, problems: [...problems, ...versionProblems(document)] };
}

/** Checks that the versions of the contract and the package are equal, because both are released together. */
export function versionProblems(document: JsonObject): string[] {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  const { version: stated } = objectAt(document, 'info');
  return stated === version ? [] : [`spec/openapi.yaml: info.version is ${stated}, but package.json has ${version}`];
}

/** Generates the types. The generator completes discriminators in place, so it gets a copy. */
async function types(document: JsonObject): Promise<string> {
  const copy = structuredClone(document) as unknown as OpenAPI3;
  const nodes = await openapiTS(copy, { alphabetize: true, readWriteMarkers: true, silent: true });
  return COMMENT_HEADER + astToString(nodes);
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
