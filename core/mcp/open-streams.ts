import { MCP_SERVER } from '../budgets.ts';
import { type Deadline, startDeadline } from '../scheduling/timers.ts';
import type { McpExchange } from './exchange.ts';

export type OpenStreams = ReturnType<typeof createOpenStreams>;

/**
 * Limits the streams that clients open to wait for messages (GET of the revision 2025-11-25, and `subscriptions/listen`
 * of 2026-07-28), so that one user or environment does not use all network connections. A client works without such a
 * stream, because servers need not offer them. A stream ends when the session token, the grant or the external access
 * token of its client expires, and at the latest after a fixed time: little is sent on it, so a disconnected client
 * might never be noticed.
 *
 * @param now milliseconds UTC
 */
export function createOpenStreams(now: () => number, timer: Deadline = startDeadline) {
  const counts = new Map<string, number>();
  const add = (key: string, more: number) => {
    const count = (counts.get(key) ?? 0) + more;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    /**
     * Counts a stream until its response ends, and ends the response at the deadline of the stream.
     *
     * @returns false if this client of the user, or the environment, already has the maximum number of streams; this
     * stream is then not counted
     */
    take({ auth, owner, environmentId, onEnd, end }: McpExchange): boolean {
      const ofOwner = `owner ${owner}`;
      const ofEnvironment = `environment ${environmentId}`;
      if ((counts.get(ofOwner) ?? 0) >= MCP_SERVER.streamsOfUser) return false;
      if ((counts.get(ofEnvironment) ?? 0) >= MCP_SERVER.streamsOfEnvironment) return false;
      for (const key of [ofOwner, ofEnvironment]) {
        add(key, 1);
        onEnd(() => add(key, -1));
      }
      const leftMs = auth.expiresAt === undefined ? MCP_SERVER.streamMs : auth.expiresAt * 1000 - now();
      onEnd(timer(Math.min(MCP_SERVER.streamMs, leftMs), end));
      return true;
    },
  };
}
