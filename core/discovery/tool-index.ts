import { TOOL_WORDS } from '../budgets.ts';
import type { Tool, ToolHints } from '../tools/tool.ts';
import { toolPrefix } from '../tools/tool-name.ts';
import { weighWords } from './tool-words.ts';
import { isMisspelling, isPlural, wordsIn, wordsOf } from './words.ts';

/** The data of a tool that lists and searches use without parsing the tool. */
export interface ToolCard {
  name: string;
  /**
   * The name without the overlay, if the tool has an overlay (an environment's changes to a tool). Settings refer to
   * tools by this name.
   */
  ownName?: string;
  connector: string;
  generic: boolean;
  tags: readonly string[];
  hints: Omit<ToolHints, 'reason'>;
  /** The scopes of the tool; tools with equal scopes share one list. */
  scopes: readonly string[][];
  /** The action of the tool: the first word of its name after the connector, stemmed. */
  action: string;
  /** The object of the tool: the last word of its name, stemmed. */
  object: string;
  /** Whether the object is in the plural: `list_orders` has several, `get_order` one. */
  isMany: boolean;
  /**
   * The divisor of the tool's score. It grows with the number of words in the name: if two tools match the same words,
   * the one with the shorter name is more likely meant.
   */
  length: number;
}

/** An inverted index of tools. `rankTools` searches several of them together. */
export interface ToolIndex {
  /** Adds a tool, or replaces the tool of the same name. */
  put(tool: Tool, connectorName: string): void;
  drop(name: string): void;
  /** The number of tools. */
  readonly size: number;
  /** All tools, sorted by name. */
  cards(): readonly ToolCard[];
  /** The tools of one connector, sorted by name. */
  cardsOf(connector: string): readonly ToolCard[];
  has(name: string): boolean;
  /**
   * Returns the postings of a stemmed word. A posting contains the number of a tool and the word's weight in it, in one
   * integer.
   */
  postings(word: string): readonly number[] | undefined;
  /** Returns at most `MAX_COMPLETIONS` stemmed words that begin with a text, which must not be empty. */
  completions(start: string): string[];
  /** Returns at most `MAX_MISSPELLINGS` stemmed words that differ from a word by one typing mistake. */
  misspellings(word: string): string[];
  card(number: number): ToolCard | undefined;
  /** One more than the highest number of a tool. */
  readonly end: number;
}

const WEIGHT_BITS = 7;
const MAX_WEIGHT = 2 ** WEIGHT_BITS - 1;
/** How much each word of a tool's name adds to `length`, the divisor of its score. */
const LENGTH = 0.055;
const SHRINK_ABOVE = 1000;
const MAX_COMPLETIONS = 20;
const MAX_MISSPELLINGS = 5;

export function createToolIndex(): ToolIndex {
  let byNumber: (ToolCard | undefined)[] = [];
  let numbers = new Map<string, number>();
  let words = new Map<string, number[]>();
  /** The words by their first letter. */
  let byLetter = new Map<string, string[]>();
  let sorted: ToolCard[] | undefined;
  let byConnector: Map<string, ToolCard[]> | undefined;
  const scopes = new Map<string, string[][]>();

  function forget(name: string): void {
    const number = numbers.get(name);
    if (number === undefined) return;
    byNumber[number] = undefined;
    numbers.delete(name);
    sorted = undefined;
    byConnector = undefined;
  }

  function shared(given: string[][]): string[][] {
    const key = JSON.stringify(given);
    const known = scopes.get(key) ?? given;
    scopes.set(key, known);
    return known;
  }

  /**
   * Rebuilds the index with new numbers and without deleted tools, if it has at least `SHRINK_ABOVE` entries and at
   * least half of them are deleted tools.
   */
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
        const number = renumbered.get(numberOf(packed));
        return number === undefined ? [] : [(number << WEIGHT_BITS) | weightOf(packed)];
      });
      if (moved.length > 0) fresh.set(word, moved);
    }
    byNumber = kept;
    numbers = new Map(kept.map((card, number) => [card.name, number]));
    words = fresh;
    byLetter = Map.groupBy(fresh.keys(), letterOf);
  }

  /**
   * Returns at most `most` known words that have the same first letter as a word and that `matches` accepts. Only the
   * first `TOOL_WORDS.compared` words with this letter are compared.
   */
  function similar(word: string, most: number, matches: (known: string) => boolean): string[] {
    const found: string[] = [];
    const known = byLetter.get(letterOf(word)) ?? [];
    for (let at = 0; at < known.length && at < TOOL_WORDS.compared && found.length < most; at++) {
      const other = known[at] as string;
      if (matches(other)) found.push(other);
    }
    return found;
  }

  function addWord(word: string, packed: number): void {
    if (words.size >= TOOL_WORDS.perIndex) return;
    words.set(word, [packed]);
    const letter = letterOf(word);
    const known = byLetter.get(letter);
    if (known) known.push(word);
    else byLetter.set(letter, [word]);
  }

  return {
    put(tool, connectorName) {
      forget(tool.name);
      shrink();
      const number = byNumber.push({ ...cardOf(tool), scopes: shared(tool.scopes) }) - 1;
      numbers.set(tool.name, number);
      sorted = undefined;
      byConnector = undefined;
      for (const [word, weight] of weighWords(tool, connectorName)) {
        const packed = (number << WEIGHT_BITS) | Math.min(MAX_WEIGHT, weight);
        const list = words.get(word);
        if (list) list.push(packed);
        else addWord(word, packed);
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
    cardsOf(connector) {
      byConnector ??= Map.groupBy(this.cards(), (card) => card.connector);
      return byConnector.get(connector) ?? [];
    },
    has: (name) => numbers.has(name),
    card: (number) => byNumber[number],
    postings: (word) => words.get(word),
    completions: (start) => similar(start, MAX_COMPLETIONS, (known) => known.startsWith(start)),
    misspellings: (word) => similar(word, MAX_MISSPELLINGS, (known) => isMisspelling(word, known)),
  };
}

function letterOf(word: string): string {
  return word.charAt(0);
}

function cardOf({ name, connector, generic, tags, hints, restriction }: Tool): Omit<ToolCard, 'scopes'> {
  const { read_only, destructive, idempotent, open_world } = hints;
  // An overlay may give a tool any name.
  const action = name.startsWith(toolPrefix(connector)) ? name.slice(toolPrefix(connector).length) : name;
  const object = wordsIn(action).at(-1) ?? '';
  return {
    name,
    ...(restriction && { ownName: restriction.toolName }),
    connector,
    generic: generic === true,
    tags,
    hints: { read_only, destructive, idempotent, open_world },
    action: wordsOf(action)[0] ?? '',
    object: wordsOf(object)[0] ?? '',
    isMany: isPlural(object),
    length: 1 + LENGTH * (1 + action.split('_').length),
  };
}

/** Returns the tool number in a posting. */
export function numberOf(posting: number): number {
  return posting >>> WEIGHT_BITS;
}

/** Returns the word's weight in a posting. */
export function weightOf(posting: number): number {
  return posting & MAX_WEIGHT;
}
