/**
 * Returns the number of characters (code points) of a text. The generated validators call it for texts near a limit.
 */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}
