import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import { stringify } from 'yaml';
import { bundleSpec } from './bundle.ts';
import type { JsonObject } from './bundle.ts';
import { secretPaths } from './secret-paths.ts';

const FOLDER = new URL('../generated/', import.meta.url);

/**
 * Everything that follows from `spec/`, by file name in `generated/`. The same input gives the same bytes.
 */
export async function generate(): Promise<Record<string, string>> {
  const document = await bundleSpec();
  return {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'openapi.yaml': stringify(document, { aliasDuplicateObjects: false, lineWidth: 130 }),
    'api.d.ts': await types(document),
    'secret-paths.json': `${JSON.stringify(secretPaths(document), null, 2)}\n`,
  };
}

/** The generator completes discriminators in place, hence the copy. */
async function types(document: JsonObject): Promise<string> {
  const copy = structuredClone(document) as unknown as OpenAPI3;
  const nodes = await openapiTS(copy, { alphabetize: true, readWriteMarkers: true, silent: true });
  return COMMENT_HEADER + astToString(nodes);
}

/** The files in `generated/` that differ from what `spec/` says now. */
export async function drift(): Promise<string[]> {
  const stale: string[] = [];
  for (const [name, content] of Object.entries(await generate())) {
    const present = await readFile(new URL(name, FOLDER), 'utf8').catch(() => null);
    if (present !== content) stale.push(name);
  }
  return stale;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  if (values.check) {
    const stale = await drift();
    for (const name of stale) console.error(`generated/${name} does not follow from spec/: run \`make generate\``);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  await mkdir(FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(await generate())) await writeFile(new URL(name, FOLDER), content);
}

if (import.meta.main) await main();
