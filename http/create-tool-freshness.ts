import { BACKGROUND } from '../core/budgets.ts';
import type { FreshnessTools } from '../core/mcp/upstream/freshness.ts';
import { createToolFreshness as create } from '../core/mcp/upstream/freshness.ts';
import type { Deps } from './deps.ts';
import { periodically } from './periodic.ts';

const PERIOD = { everyMs: BACKGROUND.toolListsMs };

/** Keeps the tools of MCP servers as their servers have them, on the real clock. */
export function createToolFreshness(tools: FreshnessTools & Pick<Deps, 'log'>): { stop(): Promise<void> } {
  const freshness = create(tools);
  let running: Promise<void> = Promise.resolve();
  const run = () => {
    running = running.catch(() => {}).then(() => freshness.run());
    return running;
  };
  const { stop } = periodically(run, PERIOD, (err) =>
    tools.log.error({ err }, 'tools of MCP servers were not checked'),
  );
  return {
    stop: async () => {
      stop();
      await running.catch(() => {});
    },
  };
}
