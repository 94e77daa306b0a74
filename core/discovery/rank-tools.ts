import { intentOf } from './query-intent.ts';
import { SYNONYMS } from './synonyms.ts';
import { numberOf, type ToolCard, type ToolIndex, weightOf } from './tool-index.ts';
import { wordsOf, wordsOfQuery } from './words.ts';

export interface Hit {
  card: ToolCard;
  /** Higher is better; comparable within one search. */
  score: number;
}

/** The higher this value, the later repeated occurrences of a word in one tool stop increasing the score (BM25). */
const SATURATION = 8;
/**
 * The weight of a synonym; a word of the query has the weight 1. `COMPLETION` is the weight of a completion of an
 * unknown query word, and of a corrected misspelling.
 */
const SYNONYM = 0.3;
const COMPLETION = 0.6;
/**
 * Added to the share (0 to 1) of the query that a tool matches. The score is multiplied by the sum to the power of 1.5.
 */
const SHARE_BASE = 0.34;
const MAX_QUERY_WORDS = 16;
/** A hit must have at least this fraction of the best hit's score. */
const WORTH_SHOWING = 0.1;
/**
 * Boosts for tools whose action is a word of the query (`ACTION_ASKED`), or an alternative of one, such as a synonym
 * (`ACTION_MEANT`). The action matters more than the other words.
 */
const ACTION_ASKED = 1.25;
const ACTION_MEANT = 1.25;
/** Boost for tools of a connector that the query names: a user who names an application wants its tools. */
const CONNECTOR_NAMED = 1.6;

/**
 * Ranks the tools of several indexes by a query in natural language (BM25 over weighted fields). The number of query
 * words that match has the most influence.
 *
 * @param passes whether a tool may be a hit
 * @returns the hits, best first; equal scores are sorted by name
 */
export function rankTools(
  indexes: readonly ToolIndex[],
  query: string,
  passes: (card: ToolCard) => boolean = () => true,
): Hit[] {
  const asked = wordsOfQuery(query).slice(0, MAX_QUERY_WORDS);
  const total = indexes.reduce((sum, index) => sum + index.size, 0);
  const groups = conceptsOf(asked).map((words) => alternativesOf(words, indexes, total));
  const worth = groups.reduce((sum, { rarity }) => sum + rarity, 0);
  const actions = new Map(
    groups.flatMap(({ words }) =>
      words.map(({ word, factor }): [string, number] => [word, factor === 1 ? ACTION_ASKED : ACTION_MEANT]),
    ),
  );
  const intent = intentOf(
    query,
    groups.map(({ words }) => words.map(({ word, factor }) => ({ word, isAsked: factor === 1 }))),
  );
  const isNamed = namedConnectors(asked);
  const scored: { index: ToolIndex; scores: Float64Array }[] = [];
  let best = 0;
  for (const index of indexes) {
    const scores = new Float64Array(index.end);
    const covered = new Float64Array(index.end);
    const values = new Float32Array(index.end);
    for (const { rarity, words } of groups) addConcept(index, words, rarity, { scores, covered, values });
    for (let number = 0; number < scores.length; number++) {
      const sum = scores[number] as number;
      if (sum === 0) continue;
      const card = index.card(number);
      scores[number] = 0;
      if (!card || !passes(card)) continue;
      const share = (covered[number] as number) / worth;
      const does = actions.get(card.action) ?? 1;
      const named = isNamed(card.connector) ? CONNECTOR_NAMED : 1;
      const matched = SHARE_BASE + share;
      // `matched` to the power of 1.5; a square root is faster than a power.
      const score = (intent(card) * does * named * sum * matched * Math.sqrt(matched)) / card.length;
      scores[number] = score;
      if (score > best) best = score;
    }
    scored.push({ index, scores });
  }
  const hits: Hit[] = [];
  for (const { index, scores } of scored) {
    scores.forEach((score, number) => {
      if (score > 0 && score >= best * WORTH_SHOWING) hits.push({ card: index.card(number) as ToolCard, score });
    });
  }
  return hits.sort((a, b) => b.score - a.score || (a.card.name < b.card.name ? -1 : 1));
}

/**
 * Returns a function that says whether a query contains every word of a connector's name. It caches its results,
 * because connectors have many tools.
 */
function namedConnectors(asked: readonly string[]): (connector: string) => boolean {
  const known = new Map<string, boolean>();
  return (connector) => {
    const before = known.get(connector);
    if (before !== undefined) return before;
    const words = wordsOf(connector);
    const isNamed = words.length > 0 && words.every((word) => asked.includes(word));
    known.set(connector, isNamed);
    return isNamed;
  };
}

interface Alternative {
  word: string;
  factor: number;
}

/**
 * Groups query words that are synonyms of each other into one term: `open a new issue` asks to create one thing, not
 * two.
 */
function conceptsOf(words: readonly string[]): string[][] {
  const concepts: string[][] = [];
  for (const word of words) {
    const same = concepts.find((concept) => concept.some((other) => SYNONYMS.get(other)?.includes(word)));
    if (same) same.push(word);
    else concepts.push([word]);
  }
  return concepts;
}

/**
 * Returns the alternative words of one query term with their weights, and the rarity of the term. The alternatives are
 * the words of the query and their synonyms. If no tool contains the words of the query, completions of them are added,
 * or corrections if there are no completions.
 */
function alternativesOf(
  asked: readonly string[],
  indexes: readonly ToolIndex[],
  total: number,
): { rarity: number; words: Alternative[] } {
  // An index may still contain postings of deleted tools, so the count is limited to the number of tools.
  const count = (each: string) =>
    Math.min(
      total,
      indexes.reduce((sum, index) => sum + (index.postings(each)?.length ?? 0), 0),
    );
  const words: Alternative[] = asked.map((word) => ({ word, factor: 1 }));
  for (const synonym of new Set(asked.flatMap((word) => SYNONYMS.get(word) ?? []))) {
    if (!asked.includes(synonym)) words.push({ word: synonym, factor: SYNONYM });
  }
  let frequency = Math.max(...asked.map(count));
  if (frequency === 0) {
    const starts = asked.filter((word) => word.length > 2);
    const similar = (find: (index: ToolIndex, word: string) => string[]) =>
      new Set(starts.flatMap((start) => indexes.flatMap((index) => find(index, start))));
    const longer = similar((index, start) => index.completions(start));
    const close = longer.size > 0 ? longer : similar((index, start) => index.misspellings(start));
    for (const word of close) words.push({ word, factor: COMPLETION });
    frequency = Math.max(0, ...words.map(({ word }) => count(word)));
  }
  const rarity = Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
  return { rarity, words };
}

/** The sums that a search adds up for each tool. The index is the number of the tool. */
interface Sums {
  scores: Float64Array;
  /** How much of the query each tool matches. */
  covered: Float64Array;
  /** Used for one query term at a time; all zero in between. */
  values: Float32Array;
}

/** Adds a term's score to each tool: the best of its alternatives, not their sum. */
function addConcept(
  index: ToolIndex,
  words: readonly Alternative[],
  rarity: number,
  { scores, covered, values }: Sums,
): void {
  const touched: number[] = [];
  for (const { word, factor } of words) {
    for (const packed of index.postings(word) ?? []) {
      const number = numberOf(packed);
      const weight = weightOf(packed);
      const value = (factor * weight) / (weight + SATURATION);
      const before = values[number] as number;
      if (before === 0) touched.push(number);
      if (value > before) values[number] = value;
    }
  }
  for (const number of touched) {
    const value = values[number] as number;
    values[number] = 0;
    scores[number] = (scores[number] as number) + rarity * value;
    covered[number] = (covered[number] as number) + rarity * Math.min(1, 2 * value);
  }
}
