import { readFileSync } from 'node:fs';
import { isCollection, isMap, isNode, LineCounter, type Node, parseDocument } from 'yaml';
import { nearestName } from './nearest-name.ts';

const ROOT = new URL('../', import.meta.url);
/** Matches the text of a problem: its file, the field at its beginning if there is one, and the rest. */
const PROBLEM = /^(catalogue\/[^\s:]+\.yaml): ((?:[\w$]+(?:\[\d+\])*\.?)*)(.*)$/s;

/**
 * Adds the line and column of the field to a problem of a catalogue file. For an unknown field, it also adds the name
 * that was probably meant.
 *
 * @param names the names that the schemas of the catalogue have
 * @param read returns the text of a file
 */
export function placedInCatalogue(
  problem: string,
  names: readonly string[],
  read: (file: string) => string = (file) => readFileSync(new URL(file, ROOT), 'utf8'),
): string {
  const [, file, field = '', rest = ''] = PROBLEM.exec(problem) ?? [];
  if (file === undefined) return problem;
  const steps = field.split(/[.[\]]+/).filter(Boolean);
  const { line, col } = placeOf(read(file), steps);
  const meant = rest.startsWith(': unknown field') ? nearestName(steps.at(-1) ?? '', names) : undefined;
  return `${file}:${line}:${col}: ${field}${rest}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** Returns where a YAML file has a member, or the innermost existing one around it. */
function placeOf(text: string, steps: readonly string[]): { line: number; col: number } {
  const lines = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter: lines }).contents;
  let place: Node | undefined;
  for (const step of steps) {
    if (!isCollection(node)) break;
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined;
    const found = pair ? pair.key : node.get(Number(step), true);
    if (!isNode(found)) break;
    place = found;
    node = pair ? pair.value : found;
  }
  return lines.linePos(place?.range?.[0] ?? 0);
}

/** Returns the names of all members that JSON Schemas describe. */
export function memberNames(schemas: readonly unknown[]): string[] {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name);
      visit(value);
    }
  };
  visit(schemas);
  return [...names];
}
