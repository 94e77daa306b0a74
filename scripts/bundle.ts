import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';
import { describeProblem } from './bundle-problem.ts';
import { definitionsOf } from './contract-places.ts';
import { ContractResolver } from './contract-resolver.ts';
import { addEventEnvelopes } from './event-envelopes.ts';
import { inlineAliases } from './inline-aliases.ts';
import type { Json, JsonObject } from './openapi-document.ts';
import { objectAt } from './openapi-document.ts';

/** The root document of the contract, written by hand. */
export const SPEC_ROOT = fileURLToPath(new URL('../spec/openapi.yaml', import.meta.url));

/**
 * Joins the files of `spec/` into one document. A definition in another file becomes a component named by the last part
 * of its reference, so names must be unique over all files.
 *
 * @param root path of the root document
 * @returns the bundled document as plain JSON, with components sorted by name
 * @throws Error with one line per problem, `file:line:column: message`, if a file is not YAML, a reference has no
 * target, or two files define different things under one name
 */
export async function bundleSpec(root: string = SPEC_ROOT): Promise<JsonObject> {
  const config = await createConfig({});
  const files = new ContractResolver(root);
  const { bundle: bundled, problems } = await bundle({ ref: root, config, externalRefResolver: files }).finally(() =>
    files.throwSyntaxErrors(),
  );
  if (problems.length > 0) throw new Error(problems.map(describeProblem).join('\n'));
  const document = addEventEnvelopes(JSON.parse(JSON.stringify(bundled.parsed)) as JsonObject);
  const components = Object.entries(objectAt(document, 'components'));
  return inlineAliases({
    ...document,
    components: Object.fromEntries(components.map(([group, members]) => [group, sorted(members, dirname(root))])),
  });
}

/** Sorts members by name, which keeps the diff of the bundle small; the bundler's order changes with every edit. */
function sorted(members: Json, folder: string): JsonObject {
  const entries = Object.entries(members as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = new Set(entries.map(([name]) => name));
  for (const name of names) {
    // If a name is already used, the bundler silently adds the name of the file in front.
    const wanted = /^[a-z-]+[_-](.+)$/.exec(name)?.[1];
    if (wanted && names.has(wanted)) throw new Error(describeConflict(wanted, folder));
  }
  return Object.fromEntries(entries);
}

function describeConflict(name: string, folder: string): string {
  const [first, ...others] = definitionsOf(name, folder);
  return `${first}: ${name} is defined differently in ${others.join(', ')}`;
}
