import { posix } from 'node:path';
import { percentDecoded } from '../tools/pointer.ts';

export interface ParsedFile {
  name: string;
  data: unknown;
}

/** The member of the combined document that contains the other files. */
const PLACE = 'x-valetkey-files';

/**
 * Combines several files into one document: the other files are added to the root file, and references between files
 * become local ones. A reference to a missing file or to another host is not changed. Such a reference has no target,
 * because only local references are resolved.
 *
 * @param root the file with the OpenAPI document; its data is changed
 */
export function bundle(
  root: ParsedFile & { data: Record<string, unknown> },
  files: readonly ParsedFile[],
): Record<string, unknown> {
  const places = new Map(
    files.map(({ name }) => [
      posix.normalize(name),
      name === root.name ? '' : `/${PLACE}/${escaped(posix.normalize(name))}`,
    ]),
  );
  for (const { name, data } of files)
    rewrite(data, (reference) => localReference(reference, posix.normalize(name), places));
  const others = files.filter((file) => file !== root && file.name !== root.name);
  if (others.length > 0) {
    root.data[PLACE] = Object.fromEntries(others.map(({ name, data }) => [posix.normalize(name), data]));
  }
  return root.data;
}

/**
 * Rewrites references. `$ref` is only a reference if its value is a text, because a property may have this name (as in
 * Kubernetes).
 */
function rewrite(data: unknown, change: (reference: string) => string): void {
  const seen = new Set<unknown>();
  const queue = [data];
  for (let node = queue.pop(); queue.length > 0 || node !== undefined; node = queue.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    const members = node as Record<string, unknown>;
    for (const [key, value] of Object.entries(members)) {
      if (key === '$ref' && typeof value === 'string') members[key] = change(value);
      else if (typeof value === 'object' && value !== null) queue.push(value);
    }
  }
}

function localReference(reference: string, from: string, places: ReadonlyMap<string, string>): string {
  const [file = '', pointer = ''] = reference.split('#', 2);
  const target = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), percentDecoded(file)));
  const place = places.get(target);
  return place === undefined ? reference : `#${place}${pointer}`;
}

function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25');
}
