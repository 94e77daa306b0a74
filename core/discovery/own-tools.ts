import { LRUCache } from 'lru-cache';
import type { EnvironmentToolRow } from '../../db/store.ts';
import type { Tool } from '../tools/tool.ts';

/** Parses stored tools. */
export interface OwnTools {
  /**
   * Returns the tool of a row. Rows with the same content share one object while it is cached, because other caches use
   * the object as key.
   */
  parse(row: Pick<EnvironmentToolRow, 'definition' | 'contentHash'>): Tool;
}

/**
 * Caches the most recently used tools by the hash of their content. Other modules cache compiled schemas and parsed
 * templates per tool object.
 *
 * @param capacity the maximum number of cached tools
 */
export function createOwnTools(capacity = 500): OwnTools {
  const parsed = new LRUCache<string, Tool>({ max: capacity });
  return {
    parse: ({ definition, contentHash }) => {
      const known = parsed.get(contentHash);
      if (known) return known;
      // Only tools of the catalogue can be generic (usable with custom providers); a stored tool runs only with
      // accounts of the tool's provider. Restrictions come only from overlays.
      const { generic: _generic, restriction: _restriction, ...tool } = JSON.parse(definition) as Tool;
      parsed.set(contentHash, tool);
      return tool;
    },
  };
}
