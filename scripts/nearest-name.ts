import { editDistance } from '../core/text/edit-distance.ts';

/**
 * Returns the existing name that was probably meant; of equally similar names, the one with the longest common
 * beginning.
 *
 * @returns undefined if no name is similar enough: more than a third of the characters (rounded up) would have to
 * change
 */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, changes: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.changes - b.changes || commonStart(b.name, wrong) - commonStart(a.name, wrong));
  return best && best.changes <= Math.ceil(wrong.length / 3) ? best.name : undefined;
}

function commonStart(name: string, other: string): number {
  let length = 0;
  while (length < name.length && name[length] === other[length]) length++;
  return length;
}
