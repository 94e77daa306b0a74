import { setTimeout as sleep } from 'node:timers/promises';
import { MCP_SERVER } from '../core/budgets.ts';
import { createListChanges, type ListChanges } from '../core/mcp/list-changes.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';
import type { Tools } from './tools.ts';

export interface ListChangesParts {
  /** Tells clients of MCP servers that their lists have changed. */
  readonly listChanges: ListChanges;
}

export function createListChangesParts(
  { closing }: Pick<Setup, 'closing'>,
  deps: Pick<Runtime, 'log' | 'startTimer'> & Pick<Storage, 'store'> & Pick<Tools, 'catalogue' | 'toolDirectory'>,
): ListChangesParts {
  const listChanges = createListChanges({ ...deps, pause: (ms) => sleep(ms, undefined, { ref: false }) });
  const checking = deps.startTimer(listChanges.check, {
    everyMs: MCP_SERVER.listChecksMs,
    failed: (err) => deps.log.error({ err }, 'lists of MCP servers were not compared'),
  });
  closing.defer(() => checking.stop());
  return { listChanges };
}
