import { createUpstreamSessions, type SessionTools, type UpstreamSessions } from '../core/mcp/upstream/sessions.ts';
import { startTimer } from '../core/timers.ts';
import type { Logger } from './log.ts';

const EVERY_MS = 60 * 1000;

/** Keeps the sessions at MCP servers, and ends those that were not used for a while, on the real clock. */
export function startUpstreamSessions({ log, ...tools }: SessionTools & { log: Logger }): UpstreamSessions {
  const sessions = createUpstreamSessions(tools);
  const failed = (err: unknown) => log.error({ err }, 'idle sessions at MCP servers could not be ended');
  const timer = startTimer(sessions.sweep, { everyMs: EVERY_MS, failed });
  return {
    ...sessions,
    async close() {
      await timer.stop();
      await sessions.close();
    },
  };
}
