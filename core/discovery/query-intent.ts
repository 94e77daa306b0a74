import type { ToolCard } from './tool-index.ts';
import { isPlural, stem, wordsIn } from './words.ts';

/**
 * Boosts for read-only tools if the query is a question or asks to read (`READ`), and for tools that list if the query
 * asks for several things (`MANY`). The factors of this file were fitted on one half of the test questions and checked
 * on the other half.
 */
const READ = {
  asked:
    /^\s*(?:what|which|who|whose|whom|when|where|how|why|is|are|do|does|did|has|have|my|show|list|find|read|look|search|get)\b/i,
  factor: 1.7,
};
const MANY = { asked: /^\s*(?:which|who|my|list|all|how many)\b/i, factor: 1.25 };
/** Boost for tools that write, if the query is not a question and contains a verb of writing. */
const WRITE = 1.4;
/**
 * Factors for the number (singular or plural) of a tool's object and of the same word in the query: for equal numbers,
 * for a singular tool with a plural query, and for a plural tool with a singular query.
 */
const SAME_NUMBER = 1.1;
const ONE_FOR_MANY = 0.65;
const MANY_FOR_ONE = 0.78;
/** Boosts for question words: `who` asks for tools about people, `how many` for tools that count. */
const ASKED_FOR = [
  {
    asked: /\bwho(?:se|m)?\b/i,
    part: 'object',
    words: stems(
      'member user person people participant attendee recipient invitee follower collaborator assignee owner reviewer author profile contact watcher subscriber guest candidate applicant employee reader customer',
    ),
    factor: 1.4,
  },
  {
    asked: /\bhow (?:did|do|does|is|are|was|were|well)\b/i,
    part: 'object',
    words: stems('statistics stats report insights analytics performance metrics results health status score'),
    factor: 1.5,
  },
  {
    asked: /\bhow (?:many|much|often|far|long)\b/i,
    part: 'action',
    words: stems('count query aggregate sum run estimate average'),
    factor: 1.3,
  },
] as const;

const WRITING = stems(
  [
    'add create make put set send write post copy log record',
    'delete remove cancel close stop archive',
    'change update edit move rename open start switch turn restart',
    'upload share invite give tell',
    'reply respond answer',
    'assign mark save schedule book approve merge publish charge refund buy pay',
  ].join(' '),
);

/**
 * Returns the factor of a tool's score that follows from the form of a query: whether it is a question or a command,
 * whether it is about one thing or several, and which question word it has.
 *
 * @param terms for each term of the query, its alternative words; `isAsked` marks those that the query contains
 */
export function intentOf(
  query: string,
  terms: readonly (readonly { word: string; isAsked: boolean }[])[],
): (card: ToolCard) => number {
  const isQuestion = READ.asked.test(query);
  const asksForMany = MANY.asked.test(query);
  const asksToWrite = !isQuestion && terms.flat().some(({ word, isAsked }) => isAsked && WRITING.has(word));
  const askedFor = ASKED_FOR.filter(({ asked }) => asked.test(query));
  const numbers = numbersOf(query, terms);
  return (card) => {
    let factor = 1;
    if (isQuestion && card.hints.read_only) factor *= READ.factor;
    if (asksToWrite && !card.hints.read_only) factor *= WRITE;
    if (asksForMany && card.action === 'list') factor *= MANY.factor;
    const isMany = numbers.get(card.object);
    if (isMany !== undefined) factor *= isMany === card.isMany ? SAME_NUMBER : isMany ? ONE_FOR_MANY : MANY_FOR_ONE;
    for (const { part, words, factor: boost } of askedFor) if (words.has(card[part])) factor *= boost;
    return factor;
  };
}

/**
 * Returns for each word of each term, including synonyms, whether the term is plural in the query. A term is left out
 * if the query contains a word of it in the singular and in the plural.
 */
function numbersOf(
  query: string,
  terms: readonly (readonly { word: string; isAsked: boolean }[])[],
): Map<string, boolean> {
  const seen = new Map<string, boolean | undefined>();
  for (const word of wordsIn(query)) {
    const stemmed = stem(word);
    const isMany = isPlural(word);
    seen.set(stemmed, seen.has(stemmed) && seen.get(stemmed) !== isMany ? undefined : isMany);
  }
  const numbers = new Map<string, boolean>();
  for (const alternatives of terms) {
    const asked = alternatives.filter(({ isAsked }) => isAsked).map(({ word }) => seen.get(word));
    if (asked.includes(undefined)) continue;
    const isMany = asked.includes(true);
    for (const { word, isAsked } of alternatives) if (isAsked || !numbers.has(word)) numbers.set(word, isMany);
  }
  return numbers;
}

function stems(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stem));
}
