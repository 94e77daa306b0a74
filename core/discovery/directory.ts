import type { EnvironmentId, EnvironmentToolRow, ReadRepositories, ToolSource } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { Tool, ToolHints } from '../tools/tool.ts';
import { createOwnTools } from './own-tools.ts';

/** A tool that an environment knows, and where it comes from. */
export interface KnownTool {
  tool: Tool;
  source: 'catalogue' | ToolSource;
  /** Why it may not be run until a person has looked at it; null for one that may. */
  flagged: string | null;
}

export interface DirectoryFilter {
  /** Tools of this provider only. */
  connector?: string | undefined;
  /** Tools that carry all of these tags. */
  tags?: readonly string[] | undefined;
  /** Tools whose hints have these values. */
  hints?: Partial<Record<Exclude<keyof ToolHints, 'reason'>, boolean | undefined>> | undefined;
}

/**
 * The tools of an environment: those of the catalogue, and those it has of its own. A name of the catalogue is the catalogue's
 * tool, whatever is stored.
 */
export interface ToolDirectory {
  find(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** In the order of names. */
  list(read: ReadRepositories, environmentId: EnvironmentId, filter?: DirectoryFilter): Promise<KnownTool[]>;
}

const PIECE = 500;

export function createToolDirectory(catalogue: Catalogue): ToolDirectory {
  const ownTools = createOwnTools();

  const known = (row: EnvironmentToolRow): KnownTool => ({
    tool: ownTools.parse(row),
    source: row.source,
    flagged: row.flagged,
  });

  return {
    async find(read, environmentId, name) {
      const builtIn = catalogue.tool(name);
      if (builtIn) return { tool: builtIn, source: 'catalogue', flagged: null };
      const row = await read.environmentTools.get(environmentId, name);
      return row && known(row);
    },
    async list(read, environmentId, filter = {}) {
      const builtIn = catalogue.tools({ connector: filter.connector });
      const found = builtIn.map((tool): KnownTool => ({ tool, source: 'catalogue', flagged: null }));
      for await (const row of rowsOf(read, environmentId, filter.connector)) {
        if (!catalogue.tool(row.name)) found.push(known(row));
      }
      return found.filter(({ tool }) => passes(tool, filter)).sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    },
  };
}

async function* rowsOf(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  connector: string | undefined,
): AsyncGenerator<EnvironmentToolRow> {
  for (let after = ''; ; ) {
    const rows = await read.environmentTools.list(environmentId, { connector, after, limit: PIECE });
    yield* rows;
    if (rows.length < PIECE) return;
    after = rows.at(-1)?.name ?? '';
  }
}

function passes(tool: Tool, { tags = [], hints = {} }: DirectoryFilter): boolean {
  const wanted = Object.entries(hints) as [keyof ToolHints, boolean | undefined][];
  return (
    tags.every((tag) => tool.tags.includes(tag)) &&
    wanted.every(([hint, value]) => value === undefined || tool.hints[hint] === value)
  );
}
