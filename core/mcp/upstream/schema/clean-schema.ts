import { searchPatternProblem } from '../../../connectors/linear-pattern.ts';
import { isRecord } from '../../../tools/pointer.ts';
import { cleanText } from '../clean-text.ts';
import type { Changes } from './changes.ts';
import { upgradeNode } from './dialects.ts';
import { isSchema, LIST_WORDS, MAP_WORDS, SCHEMA_WORDS, SENTENCES, wordProblem } from './words.ts';

type Data = Record<string, unknown>;

const MAX_SENTENCE = 1000;

/**
 * Converts a server's schema and its subschemas to JSON Schema 2020-12. Keywords that are unknown, malformed or too
 * costly are removed one by one, so names, types and descriptions stay. Hidden characters are removed from titles,
 * descriptions and comments, and these texts are truncated.
 *
 * @param path of the schema, for `changes`
 * @returns the converted copy; a value that is not an object is returned unchanged
 */
export function cleanSchema(schema: unknown, path: readonly string[], changes: Changes): unknown {
  if (!isRecord(schema)) return schema;
  const node = withoutCostlyPatterns(upgradeNode(schema), path, changes);
  const kept: Data = {};
  for (const [word, value] of Object.entries(node)) {
    // `readHeaderParameters` reads this keyword, so its removal is not listed as a change.
    if (word === 'x-mcp-header') continue;
    const place = [...path, word];
    const problem = wordProblem(word, value);
    if (problem === undefined) kept[word] = cleanValue(word, value, place, changes);
    else changes.add(place, `was omitted: it ${problem}`);
  }
  return kept;
}

function cleanValue(word: string, value: unknown, place: readonly string[], changes: Changes): unknown {
  if (SENTENCES.has(word)) return cleanText(String(value), MAX_SENTENCE);
  if (SCHEMA_WORDS.has(word)) return cleanSchema(value, place, changes);
  if (LIST_WORDS.has(word)) {
    return (value as unknown[]).map((item, index) => cleanSchema(item, [...place, String(index)], changes));
  }
  if (!MAP_WORDS.has(word)) return word === 'required' ? [...new Set(value as string[])] : value;
  return Object.fromEntries(
    Object.entries(value as Data).map(([name, item]) => {
      if (isSchema(item)) return [name, cleanSchema(item, [...place, name], changes)];
      changes.add([...place, name], 'accepts any value: it is not a schema');
      return [name, {}];
    }),
  );
}

/**
 * Removes regular expressions that could take unlimited time. A `pattern` is moved to the description, for the model,
 * and only the server validates it. If a key of `patternProperties` is such an expression, `patternProperties` is
 * removed, and members with undeclared names accept any value.
 */
function withoutCostlyPatterns(node: Data, path: readonly string[], changes: Changes): Data {
  const { pattern, patternProperties, description } = node;
  const kept = { ...node };
  if (typeof pattern === 'string' && searchPatternProblem(pattern) !== undefined) {
    delete kept['pattern'];
    const lead = typeof description === 'string' ? `${description} ` : '';
    kept['description'] = `${lead}Pattern: ${pattern}`;
    changes.add([...path, 'pattern'], 'was moved to the description: it is not validated');
  }
  if (isRecord(patternProperties) && Object.keys(patternProperties).some((name) => searchPatternProblem(name))) {
    for (const word of ['patternProperties', 'additionalProperties', 'unevaluatedProperties']) delete kept[word];
    changes.add([...path, 'patternProperties'], 'was omitted: its names are not validated');
  }
  return kept;
}
