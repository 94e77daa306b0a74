import { createHash } from 'node:crypto';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { type McpSession, ownerOf } from './session.ts';

/** The link that a client was sent to, while it comes back for the result. */
export interface ConnectState {
  url: string;
  /** Milliseconds UTC. */
  expiresAt: number;
}

const PURPOSE = 'MCP request state';

/** One call: the same tool with the same arguments, by the same user of the same server. */
interface BoundCall {
  session: McpSession;
  name: string;
  input: unknown;
}

/**
 * The state that a client brings back with a call that waited for its user (2026-07-28, multi round-trip requests). It is sealed, dated,
 * and opens for the call that it was made for and no other (threat M4). It says which link was offered and permits nothing: whether
 * the call may run is decided by the account alone, so bringing it back twice gains nothing.
 */
export function sealConnectState(sealed: SealedTokens, call: BoundCall, state: ConnectState): string {
  return sealed.seal(PURPOSE, bound(call), JSON.stringify(state), state.expiresAt);
}

/** @returns null for one that is altered, expired or of another call */
export function openConnectState(sealed: SealedTokens, call: BoundCall, text: string): ConnectState | null {
  const opened = sealed.open(PURPOSE, bound(call), text);
  return opened === null ? null : (JSON.parse(opened) as ConnectState);
}

function bound({ session, name, input }: BoundCall): string[] {
  const digest = createHash('sha256')
    .update(JSON.stringify(input ?? {}))
    .digest('base64url');
  return [ownerOf(session), 'tools/call', name, digest];
}
