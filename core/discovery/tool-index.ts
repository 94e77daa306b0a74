import type { Tool, ToolHints } from '../tools/tool.ts';
import { toolPrefix } from '../tools/tool-name.ts';
import { SYNONYMS } from './synonyms.ts';
import { wordsOf, wordsOfQuery } from './words.ts';

/** What lists and searches know of a tool without reading it. */
export interface ToolCard {
  name: string;
  connector: string;
  generic: boolean;
  tags: readonly string[];
  hints: Omit<ToolHints, 'reason'>;
  /** What it does, by its name: the stemmed first word after the connector's. */
  action: string;
  /** What its score is divided by: of two tools that know the same words, the plainer one is more likely meant. */
  length: number;
}

export interface Hit {
  card: ToolCard;
  /** More is better; comparable within one search. */
  score: number;
}

/** An inverted index over some tools. Several are searched as one: {@link search}. */
export interface ToolIndex {
  /** Adds a tool, or puts it in the place of the one that has its name. */
  put(tool: Tool, connectorName: string): void;
  drop(name: string): void;
  /** How many tools there are. */
  readonly size: number;
  /** All tools in the order of names. */
  cards(): readonly ToolCard[];
  has(name: string): boolean;
  /** Of a stemmed word: pairs of a tool's number and the word's weight in it, one integer each. */
  postings(word: string): readonly number[] | undefined;
  /** Stemmed words that begin with a text. */
  completions(start: string): string[];
  card(number: number): ToolCard | undefined;
  /** The number that the next tool would get. */
  readonly end: number;
}

/** What a word is worth by the place where it stands. */
const FIELDS = { name: 10, title: 8, connector: 7, tag: 5, description: 3, input: 2, example: 2 } as const;
/** A place holds each word at most this often. */
const MOST_OFTEN = 2;
const WEIGHT_BITS = 7;
const MAX_WEIGHT = 2 ** WEIGHT_BITS - 1;
/** How soon more of the same word in one tool stops counting. */
const SATURATION = 8;
/** What a synonym, and a word that only begins with the one that was asked for, is worth. */
const SYNONYM = 0.45;
const COMPLETION = 0.6;
const MAX_COMPLETIONS = 20;
const MAX_QUERY_WORDS = 16;
/** What share of the best hit's score another one must have. */
const WORTH_SHOWING = 0.1;
/** A question is answered by reading; so much more is a tool worth that changes nothing. */
const QUESTION = /^\s*(?:what|which|who|whose|whom|when|where|how|is|are|do|does|has|have)\b/i;
const READ_ASKED = 1.4;
/** What a tool does, said in the question or by another word for it, is worth so much more than what it speaks of. */
const ACTION_ASKED = 1.4;
const ACTION_MEANT = 1.25;
/** What each word of a name adds to its length. */
const LENGTH = 0.06;
const SHRINK_ABOVE = 1000;

export function createToolIndex(): ToolIndex {
  let byNumber: (ToolCard | undefined)[] = [];
  let numbers = new Map<string, number>();
  let words = new Map<string, number[]>();
  let sorted: ToolCard[] | undefined;

  function forget(name: string): void {
    const number = numbers.get(name);
    if (number === undefined) return;
    byNumber[number] = undefined;
    numbers.delete(name);
    sorted = undefined;
  }

  /** Numbers of tools that are gone stay in the lists of words until they are the most; then all is numbered anew. */
  function shrink(): void {
    if (byNumber.length < SHRINK_ABOVE || byNumber.length < 2 * numbers.size) return;
    const renumbered = new Map<number, number>();
    const kept: ToolCard[] = [];
    byNumber.forEach((card, number) => {
      if (card) renumbered.set(number, kept.push(card) - 1);
    });
    const fresh = new Map<string, number[]>();
    for (const [word, list] of words) {
      const moved = list.flatMap((packed) => {
        const number = renumbered.get(packed >>> WEIGHT_BITS);
        return number === undefined ? [] : [(number << WEIGHT_BITS) | (packed & MAX_WEIGHT)];
      });
      if (moved.length > 0) fresh.set(word, moved);
    }
    byNumber = kept;
    numbers = new Map(kept.map((card, number) => [card.name, number]));
    words = fresh;
  }

  return {
    put(tool, connectorName) {
      forget(tool.name);
      shrink();
      const number = byNumber.push(cardOf(tool)) - 1;
      numbers.set(tool.name, number);
      sorted = undefined;
      for (const [word, weight] of weigh(tool, connectorName)) {
        const packed = (number << WEIGHT_BITS) | Math.min(MAX_WEIGHT, weight);
        const list = words.get(word);
        if (list) list.push(packed);
        else words.set(word, [packed]);
      }
    },
    drop(name) {
      forget(name);
      shrink();
    },
    get size() {
      return numbers.size;
    },
    get end() {
      return byNumber.length;
    },
    cards() {
      sorted ??= byNumber.filter((card) => card !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
      return sorted;
    },
    has: (name) => numbers.has(name),
    card: (number) => byNumber[number],
    postings: (word) => words.get(word),
    completions(start) {
      const found: string[] = [];
      for (const word of words.keys()) {
        if (word.startsWith(start)) found.push(word);
        if (found.length === MAX_COMPLETIONS) break;
      }
      return found;
    },
  };
}

/**
 * Ranks the tools of some indexes by a question in natural language (BM25 over weighted places, the number of the question's words
 * that a tool knows counting most).
 *
 * @param passes which tools may be hits
 * @returns the best first; ties by name
 */
export function search(
  indexes: readonly ToolIndex[],
  query: string,
  passes: (card: ToolCard) => boolean = () => true,
): Hit[] {
  const asked = wordsOfQuery(query).slice(0, MAX_QUERY_WORDS);
  const total = indexes.reduce((sum, index) => sum + index.size, 0);
  const groups = wishesOf(asked).map((words) => alternativesOf(words, indexes, total));
  const worth = groups.reduce((sum, { rarity }) => sum + rarity, 0);
  const actions = new Map(
    groups.flatMap(({ words }) =>
      words.map(({ word, factor }): [string, number] => [word, factor === 1 ? ACTION_ASKED : ACTION_MEANT]),
    ),
  );
  const asksToRead = QUESTION.test(query);
  const scored: { index: ToolIndex; scores: Float64Array }[] = [];
  let best = 0;
  for (const index of indexes) {
    const scores = new Float64Array(index.end);
    const covered = new Float64Array(index.end);
    const values = new Float32Array(index.end);
    for (const { rarity, words } of groups) addWish(index, words, rarity, { scores, covered, values });
    for (let number = 0; number < scores.length; number++) {
      const sum = scores[number] as number;
      if (sum === 0) continue;
      const card = index.card(number);
      scores[number] = 0;
      if (!card || !passes(card)) continue;
      const share = (covered[number] as number) / worth;
      const read = asksToRead && card.hints.read_only ? READ_ASKED : 1;
      const does = actions.get(card.action) ?? 1;
      const score = (read * does * sum * (0.25 + share) ** 2) / card.length;
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

interface Alternative {
  word: string;
  factor: number;
}

/** Words of a question that stand for one another say one thing: `open a new issue` asks for one making, not for two. */
function wishesOf(words: readonly string[]): string[][] {
  const wishes: string[][] = [];
  for (const word of words) {
    const same = wishes.find((wish) => wish.some((other) => SYNONYMS.get(other)?.includes(word)));
    if (same) same.push(word);
    else wishes.push([word]);
  }
  return wishes;
}

/** What may stand for a wish, and how much finding it tells. */
function alternativesOf(
  asked: readonly string[],
  indexes: readonly ToolIndex[],
  total: number,
): { rarity: number; words: Alternative[] } {
  // Tools that are gone may still be counted.
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
    const longer = new Set(starts.flatMap((start) => indexes.flatMap((index) => index.completions(start))));
    for (const word of longer) words.push({ word, factor: COMPLETION });
    frequency = Math.max(0, ...words.map(({ word }) => count(word)));
  }
  const rarity = Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
  return { rarity, words };
}

/** What a search adds up, by the numbers of tools. */
interface Sums {
  scores: Float64Array;
  /** How much of the question is known. */
  covered: Float64Array;
  /** For one wish at a time; zero in between. */
  values: Float32Array;
}

/** Adds what a wish brings each tool: the best of what stands for it, not all of it. */
function addWish(
  index: ToolIndex,
  words: readonly Alternative[],
  rarity: number,
  { scores, covered, values }: Sums,
): void {
  const touched: number[] = [];
  for (const { word, factor } of words) {
    for (const packed of index.postings(word) ?? []) {
      const number = packed >>> WEIGHT_BITS;
      const weight = packed & MAX_WEIGHT;
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

function cardOf({ name, connector, generic, tags, hints }: Tool): ToolCard {
  const { read_only, destructive, idempotent, open_world } = hints;
  return {
    name,
    connector,
    generic: generic === true,
    tags,
    hints: { read_only, destructive, idempotent, open_world },
    action: wordsOf(name.slice(toolPrefix(connector).length))[0] ?? '',
    length: 1 + LENGTH * name.slice(connector.length).split('_').length,
  };
}

/** The words of a tool with their weights. */
function weigh(tool: Tool, connectorName: string): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (words: readonly string[], worth: number) => {
    const counts = new Map<string, number>();
    for (const word of words) {
      const seen = counts.get(word) ?? 0;
      if (seen >= MOST_OFTEN) continue;
      counts.set(word, seen + 1);
      weights.set(word, (weights.get(word) ?? 0) + (seen === 0 ? worth : worth / 2));
    }
  };
  add(wordsOf(tool.name), FIELDS.name);
  add(wordsOf(tool.title), FIELDS.title);
  add([...wordsOf(connectorName), ...wordsOf(tool.connector)], FIELDS.connector);
  add(tool.tags.flatMap(wordsOf), FIELDS.tag);
  add(wordsOf(aboutItself(tool.description)), FIELDS.description);
  const inputs = Object.entries((tool.input_schema['properties'] as Record<string, { description?: unknown }>) ?? {});
  add(
    inputs.flatMap(([name]) => wordsOf(name)),
    FIELDS.input,
  );
  add(
    (tool.examples ?? []).flatMap(({ note }) => wordsOf(note)),
    FIELDS.example,
  );
  for (const [word, weight] of weights) weights.set(word, Math.round(weight));
  return weights;
}

/** A sentence that names another tool tells what this one is not. */
function aboutItself(description: string): string {
  return description
    .split(/(?<=[.;])\s+/)
    .filter((sentence) => !/\b[a-z0-9]+_[a-z0-9_]+\b/.test(sentence))
    .join(' ');
}
