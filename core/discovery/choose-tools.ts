import type { ToolCard } from './tool-index.ts';
import { wordsOf } from './words.ts';

/**
 * Only this many first tools of a connection, and all its tools with successful calls, are compared. Comparing 2,000
 * tools takes about 10 ms.
 */
const CONSIDERED = 2_000;

/**
 * Chooses the tools of a connection that a model should see first. Tools with more successful calls come first. Counts
 * between the same powers of two are considered equal, so that the choice seldom changes. Tools with equal counts are
 * sorted by these criteria, in this order: destructive tools come last; tools with a lower number of `roundsOf` come
 * first, which mixes tools with different first tags; reading tools come first; shorter names come first.
 *
 * @param cards the tools that the connection offers
 * @param uses the number of successful calls of each tool, by the tool's name
 * @returns all cards in their given order if there are at most `limit`, otherwise the best `limit` cards, best first
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
 * Returns a number for each tool; tools with lower numbers are chosen first. Tools with the same first tag and the same
 * hints about reading and deleting form a group. Within a group, tools whose names have few words besides the tag come
 * first: `list_issues` before `list_issue_comments`. The number is the place of the tool in its group, divided by the
 * square root of the size of the group: ten tools of a group of 100 come before the tool of a group of one.
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
