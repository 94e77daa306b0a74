import type { ToolCard } from './tool-index.ts';
import { wordsOf } from './words.ts';

/** Of a provider with more tools, only the first ones and those that were used are compared: 2,000 take some 10 ms. */
const CONSIDERED = 2_000;

/**
 * Chooses the tools of a connection that a model should see first. Tools that were used come first, by the number of
 * successful calls, in steps of powers of two, so that the choice seldom changes. Unused tools follow in rounds, which
 * take tools that read and tools that write of every first tag. Destructive tools that were never used come last.
 *
 * @param cards the tools that the connection offers
 * @param uses the number of successful calls by the names of tools
 * @returns at most `limit` of the cards; the same for the same counts
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
 * Returns for each tool in which round it is taken. Tools with the same first tag that also only read, or also write,
 * follow each other, those with the fewest words beside the tag in their names first: `list_issues` before
 * `list_issue_comments`. A tag with many tools has more of them in the first rounds.
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
