import { createUpstreamSessions, type SessionTools, type UpstreamSessions } from '../core/mcp/upstream/sessions.ts';

const EVERY_MS = 60 * 1000;

/** Keeps the sessions at MCP servers, and ends those that were not used for a while, on the real clock. */
export function startUpstreamSessions(tools: SessionTools): UpstreamSessions {
  const sessions = createUpstreamSessions(tools);
  const timer = setInterval(sessions.sweep, EVERY_MS).unref();
  return {
    ...sessions,
    close: () => {
      clearInterval(timer);
      return sessions.close();
    },
  };
}
