import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';

/** The root of the contract, written by hand. */
export const SPEC_ROOT = fileURLToPath(new URL('../spec/openapi.yaml', import.meta.url));

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Joins the files of `spec/` into one document. What another file defines becomes a component under the last part of its
 * reference, so names are unique over all files: a clash is an error here, not a silent rename.
 *
 * @returns the bundled document as plain JSON, components in order of their names
 * @throws when a reference leads nowhere or two components share a name
 */
export async function bundleSpec(root: string = SPEC_ROOT): Promise<JsonObject> {
  const config = await createConfig({});
  const { bundle: bundled, problems } = await bundle({ ref: root, config });
  if (problems.length > 0) throw new Error(problems.map((p) => p.message).join('\n'));
  const document = JSON.parse(JSON.stringify(bundled.parsed)) as JsonObject;
  sortComponents(document['components'] as JsonObject);
  return document;
}

/** The order of discovery changes with every edit; the order of names keeps the diff of the bundle small. */
function sortComponents(components: JsonObject): void {
  for (const [group, members] of Object.entries(components)) {
    const sorted = Object.entries(members as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
    components[group] = Object.fromEntries(sorted);
  }
}
