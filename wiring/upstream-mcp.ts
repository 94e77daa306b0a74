import { createMessageReaders } from '../core/mcp/upstream/message-reader.ts';
import { createUpstreamSessions, type UpstreamSessions } from '../core/mcp/upstream/sessions.ts';
import { createSyncTurns, type SyncTurns } from '../core/mcp/upstream/sync-turns.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';

const SWEEP_EVERY_MS = 60 * 1000;

/** Third-party MCP servers as providers. */
export interface UpstreamMcp {
  /** The sessions of accounts at MCP servers. */
  readonly upstreamSessions: UpstreamSessions;
  /** Makes sure that tool lists are read one at a time. */
  readonly syncTurns: SyncTurns;
}

export function createUpstreamMcp(
  { choose, closing }: Pick<Setup, 'choose' | 'closing'>,
  parts: Pick<Runtime, 'now' | 'wait' | 'startProcessJob' | 'threads'>,
): UpstreamMcp {
  const { now, wait, startProcessJob, threads } = parts;
  const messageReaders = createMessageReaders(threads.responses);
  const upstreamSessions = choose('upstreamSessions', () => createUpstreamSessions({ now, wait, messageReaders }));
  closing.defer(upstreamSessions.close);
  startProcessJob({
    name: 'mcp_session_sweep',
    everyMs: SWEEP_EVERY_MS,
    run: upstreamSessions.sweep,
    failure: 'idle sessions at MCP servers could not be ended',
  });
  return { upstreamSessions, syncTurns: choose('syncTurns', createSyncTurns) };
}
