import { TOOL_WORDS } from '../budgets.ts';
import type { Tool } from '../tools/tool.ts';
import { wordsOf } from './words.ts';

/** The weight of a word, by the field in which it occurs. */
const FIELDS = { name: 10, title: 5, connector: 6, tag: 4, description: 3, input: 2, example: 2.5, words: 7 } as const;
/** Each field counts a word at most this often; the second occurrence counts half. */
const MOST_OFTEN = 2;

/**
 * Returns the words of a tool with their weights, at most `TOOL_WORDS.perTool`. Words of its name are taken first,
 * words of its examples last.
 */
export function weighWords(tool: Tool, connectorName: string): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (words: readonly string[], worth: number) => {
    const counts = new Map<string, number>();
    for (const word of words) {
      const seen = counts.get(word) ?? 0;
      if (seen >= MOST_OFTEN || (weights.size >= TOOL_WORDS.perTool && !weights.has(word))) continue;
      counts.set(word, seen + 1);
      weights.set(word, (weights.get(word) ?? 0) + (seen === 0 ? worth : worth / 2));
    }
  };
  add(wordsOf(tool.name), FIELDS.name);
  add(wordsOf(tool.title), FIELDS.title);
  add([...wordsOf(connectorName), ...wordsOf(tool.connector)], FIELDS.connector);
  add(tool.tags.flatMap(wordsOf), FIELDS.tag);
  add(wordsOf(aboutItself(tool.description)), FIELDS.description);
  add(wordsOf(tool.search_words ?? ''), FIELDS.words);
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

/**
 * Removes sentences that contain a word with an underscore. Most of these words are names of other tools, so the
 * sentence describes another tool.
 */
function aboutItself(description: string): string {
  return description
    .split(/(?<=[.;])\s+/)
    .filter((sentence) => !/\b[a-z0-9]+_[a-z0-9_]+\b/.test(sentence))
    .join(' ');
}
