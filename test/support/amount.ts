/**
 * Reads a number that a Makefile target passes to a test. A text that is not a number is an error; otherwise the test
 * would run no round and pass.
 *
 * @param least the smallest allowed number: 1 for rounds, 0 for seeds
 */
export function amount(text: string | undefined, fallback: number, least = 1): number {
  if (!text) return fallback;
  if (!/^\d{1,10}$/.test(text) || Number(text) < least)
    throw new Error(`${text} is not a whole number from ${least} on`);
  return Number(text);
}
