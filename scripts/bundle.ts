import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';
import { describeProblem } from './bundle-problem.ts';
import { completeWebhooks } from './complete-webhooks.ts';
import { definitionsOf } from './contract-places.ts';
import { ContractResolver } from './contract-resolver.ts';
import { inlineAliases } from './inline-aliases.ts';
import type { Json, JsonObject } from './openapi-document.ts';
import { objectAt } from './openapi-document.ts';

/** The root of the contract, written by hand. */
export const SPEC_ROOT = fileURLToPath(new URL('../spec/openapi.yaml', import.meta.url));

/**
 * Joins the files of `spec/` into one document. What another file defines becomes a component under the last part of its
 * reference, so names must be unique over all files.
 *
 * @param root path of the root document
 * @returns the bundled document as plain JSON, components in order of their names
 * @throws Error with one line per problem, `file:line:column: message`, when a file is not YAML, a reference leads nowhere or two files
 *   give one name to different things
 */
export async function bundleSpec(root: string = SPEC_ROOT): Promise<JsonObject> {
  const config = await createConfig({});
  const files = new ContractResolver(root);
  const { bundle: bundled, problems } = await bundle({ ref: root, config, externalRefResolver: files }).finally(() =>
    files.throwSyntaxErrors(),
  );
  if (problems.length > 0) throw new Error(problems.map(describeProblem).join('\n'));
  const document = completeWebhooks(JSON.parse(JSON.stringify(bundled.parsed)) as JsonObject);
  const components = Object.entries(objectAt(document, 'components'));
  return inlineAliases({
    ...document,
    components: Object.fromEntries(components.map(([group, members]) => [group, sorted(members, dirname(root))])),
  });
}

/** The order of discovery changes with every edit; the order of names keeps the diff of the bundle small. */
function sorted(members: Json, folder: string): JsonObject {
  const entries = Object.entries(members as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = new Set(entries.map(([name]) => name));
  for (const name of names) {
    // The bundler silently puts the file's name before a name that is taken.
    const wanted = /^[a-z-]+[_-](.+)$/.exec(name)?.[1];
    if (wanted && names.has(wanted)) throw new Error(describeConflict(wanted, folder));
  }
  return Object.fromEntries(entries);
}

function describeConflict(name: string, folder: string): string {
  const [first, ...others] = definitionsOf(name, folder);
  return `${first}: ${name} is defined differently in ${others.join(', ')}`;
}
