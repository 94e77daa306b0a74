import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MCP_SERVER } from '../budgets.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { type Handshake, openSessionId } from './session-id.ts';

/** The sessions of the revision 2025-11-25. An id contains all data of its session, except whether it has ended. */
export interface KnownSessions {
  /** @returns null if the id was altered, has expired, belongs to another owner, or its session has ended */
  open(owner: string, id: string): Handshake | null;
  end(id: string): void;
}

/**
 * Remembers the ids of sessions that clients have ended, in this process only. Beyond a maximum number, the oldest id
 * is forgotten. The client that ended that session could then use it again with a valid token, but a new session would
 * give the client the same access.
 */
export function createKnownSessions(sealed: Pick<SealedTokens, 'open'>): KnownSessions {
  const ended = new LRUCache<string, true>({ max: MCP_SERVER.endedSessions });
  return {
    open(owner, id) {
      const handshake = openSessionId(sealed, owner, id);
      return handshake === null || (ended.size > 0 && ended.has(digestOf(id))) ? null : handshake;
    },
    end: (id) => void ended.set(digestOf(id), true),
  };
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
