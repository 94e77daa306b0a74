import type { ToolCard } from './tool-index.ts';
import { wordsOf } from './words.ts';

/**
 * If a connection offers more tools than this, only the first 2,000 and those with successful calls are compared,
 * because comparing 2,000 takes about 10 ms.
 */
const CONSIDERED = 2_000;

/**
 * Chooses the tools of a connection that a model should see first. Tools with more successful calls come first; the
 * counts are compared in steps of powers of two, so that the choice seldom changes. Tools with equal counts are sorted
 * by these rules, in this order: destructive tools come last; then the tools are chosen in rounds (see `roundsOf`),
 * each of which takes tools of every first tag; within a round, reading tools come first, then tools with shorter
 * names.
 *
 * @param cards the tools that the connection offers
 * @param uses the number of successful calls of each tool, by the tool's name
 * @returns all cards in their given order if there are at most `limit`, otherwise the first `limit`, best first; the
 *   same for the same counts
 */
export function chooseTools(
  cards: readonly ToolCard[],
  uses: ReadonlyMap<string, number>,
  limit: number,
): readonly ToolCard[] {
  if (cards.length <= limit) return cards;
  const considered = cards.filter(({ name }, place) => place < CONSIDERED || uses.has(name));
  const rounds = roundsOf(considered);
  const ranked = considered.map((card) => ({
    card,
    use: Math.floor(Math.log2(1 + (uses.get(card.name) ?? 0))),
    destroys: Number(card.hints.destructive),
    round: rounds.get(card) as number,
    writes: Number(!card.hints.read_only),
  }));
  ranked.sort(
    (a, b) =>
      b.use - a.use ||
      a.destroys - b.destroys ||
      a.round - b.round ||
      a.writes - b.writes ||
      shortFirst(a.card, b.card),
  );
  return ranked.slice(0, limit).map(({ card }) => card);
}

/**
 * Returns for each tool the round in which it is chosen. Tools form groups: the same first tag, and the same hints
 * about reading and deleting. Within a group, tools whose names have few words beside the tag come first:
 * `list_issues` before `list_issue_comments`. Larger groups have more tools in the first rounds.
 */
function roundsOf(cards: readonly ToolCard[]): Map<ToolCard, number> {
  const groups = Map.groupBy(cards, ({ tags, hints }) => `${hints.read_only} ${hints.destructive} ${tags[0] ?? ''}`);
  const rounds = new Map<ToolCard, number>();
  for (const group of groups.values()) {
    const topic = new Set(wordsOf(group[0]?.tags[0] ?? ''));
    const others = new Map(group.map((card) => [card, wordsOf(card.name).filter((word) => !topic.has(word)).length]));
    const inOrder = group.toSorted((a, b) => (others.get(a) ?? 0) - (others.get(b) ?? 0) || shortFirst(a, b));
    for (const [place, card] of inOrder.entries()) rounds.set(card, (place + 1) / Math.sqrt(group.length));
  }
  return rounds;
}

function shortFirst({ name: a }: ToolCard, { name: b }: ToolCard): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
