import { MCP_SERVER } from '../budgets.ts';
import type { McpExchange } from './exchange.ts';

/**
 * Limits the streams that clients open to wait for messages (GET in the revision 2025-11-25), so that no user or
 * environment takes all connections. A client without a stream still works, because such streams are optional.
 */
export function createOpenStreams() {
  const counts = new Map<string, number>();
  const add = (key: string, more: number) => {
    const count = (counts.get(key) ?? 0) + more;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    /** Counts a stream until its exchange ends. @returns false if there are too many */
    take({ owner, environmentId, onEnd }: McpExchange): boolean {
      const ofOwner = `owner ${owner}`;
      const ofEnvironment = `environment ${environmentId}`;
      if ((counts.get(ofOwner) ?? 0) >= MCP_SERVER.streamsOfUser) return false;
      if ((counts.get(ofEnvironment) ?? 0) >= MCP_SERVER.streamsOfEnvironment) return false;
      for (const key of [ofOwner, ofEnvironment]) {
        add(key, 1);
        onEnd(() => add(key, -1));
      }
      return true;
    },
  };
}
