import { MCP_SERVER } from '../core/budgets.ts';
import { createListChanges, type ListChanges } from '../core/mcp/list-changes.ts';
import { pause } from '../core/scheduling/timers.ts';
import type { Runtime } from './runtime.ts';
import type { Storage } from './storage.ts';
import type { Tools } from './tools.ts';

export interface ListChangesParts {
  /** Tells clients of MCP servers that their lists have changed. */
  readonly listChanges: ListChanges;
}

export function createListChangesParts(
  deps: Pick<Runtime, 'startProcessJob' | 'log'> & Pick<Storage, 'store'> & Pick<Tools, 'catalogue' | 'toolDirectory'>,
): ListChangesParts {
  const listChanges = createListChanges({ ...deps, pause });
  deps.startProcessJob({
    name: 'mcp_list_changes',
    everyMs: MCP_SERVER.listChecksMs,
    run: listChanges.check,
    failure: 'the lists of MCP servers could not be checked for changes',
  });
  return { listChanges };
}
