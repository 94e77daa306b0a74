import type { FreshnessTools } from '../core/mcp/upstream/freshness.ts';
import { createToolFreshness as create } from '../core/mcp/upstream/freshness.ts';
import type { Deps } from './deps.ts';

const EVERY_MS = 60 * 1000;

/** Keeps the tools of MCP servers as their servers have them, on the real clock. */
export function createToolFreshness(tools: FreshnessTools & Pick<Deps, 'log'>): { stop(): Promise<void> } {
  const freshness = create(tools);
  let running: Promise<void> = Promise.resolve();
  const quietly = () => {
    running = running
      .then(() => freshness.run())
      .catch((err) => tools.log.error({ err }, 'MCP servers could not be looked through'));
  };
  const timer = setInterval(quietly, EVERY_MS).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
