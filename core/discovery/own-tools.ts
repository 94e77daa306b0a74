import { LRUCache } from 'lru-cache';
import type { EnvironmentToolRow } from '../../db/store.ts';
import type { Tool } from '../tools/tool.ts';

/** Turns stored rows into tools. */
export interface OwnTools {
  /** The tool of a row. Rows with one content are one object, for as long as it is kept: caches of the engines go by it. */
  parse(row: Pick<EnvironmentToolRow, 'definition' | 'contentHash'>): Tool;
}

/**
 * Keeps the tools that were parsed last, by the hash of their content: compiled schemas and parsed templates hang on the object.
 *
 * @param capacity how many parsed tools are kept
 */
export function createOwnTools(capacity = 500): OwnTools {
  const parsed = new LRUCache<string, Tool>({ max: capacity });
  return {
    parse: ({ definition, contentHash }) => {
      const known = parsed.get(contentHash);
      if (known) return known;
      // A tool that fits every API is the catalogue's to have: an own one runs with its own provider's accounts alone.
      const { generic: _generic, ...tool } = JSON.parse(definition) as Tool;
      parsed.set(contentHash, tool);
      return tool;
    },
  };
}
