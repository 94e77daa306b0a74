import type { Tool } from '../tools/tool.ts';

/** What a word is worth by the place it is found in. */
const WEIGHTS = { name: 8, title: 6, tag: 5, connector: 4, description: 1 } as const;
const MAX_WORDS = 16;

/**
 * Orders tools by how well they fit a text: first the ones that hold more of its words, then the ones that hold them in
 * weightier places. A word is found where a word of the tool begins with it. Tools without any word are left out.
 *
 * @param displayName the name of a tool's connector as people know it
 */
export function rankTools(tools: readonly Tool[], query: string, displayName: (tool: Tool) => string): Tool[] {
  const wanted = [...new Set(words(query))].slice(0, MAX_WORDS);
  if (wanted.length === 0) return [...tools];
  return tools
    .map((tool) => ({ tool, ...relevance(tool, wanted, displayName(tool)) }))
    .filter(({ found }) => found > 0)
    .sort((a, b) => b.found - a.found || b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

function relevance(tool: Tool, wanted: readonly string[], displayName: string): { found: number; score: number } {
  const places: [number, string[]][] = [
    [WEIGHTS.name, words(tool.name)],
    [WEIGHTS.title, words(tool.title)],
    [WEIGHTS.tag, tool.tags.flatMap(words)],
    [WEIGHTS.connector, words(displayName)],
    [WEIGHTS.description, words(tool.description)],
  ];
  let found = 0;
  let score = 0;
  for (const word of wanted) {
    const scores = places.map(([weight, held]) => {
      if (held.includes(word)) return weight * 2;
      return held.some((candidate) => candidate.startsWith(word)) ? weight : 0;
    });
    const sum = scores.reduce((total, value) => total + value, 0);
    if (sum > 0) found++;
    score += sum;
  }
  return { found, score };
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
