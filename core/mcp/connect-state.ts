import { createHash } from 'node:crypto';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { type McpSession, ownerOf } from './session.ts';

/** The link that a client received, which it returns with the repeated call. */
export interface ConnectState {
  url: string;
  /** Milliseconds UTC. */
  expiresAt: number;
}

const PURPOSE = 'MCP request state';

/**
 * The request that an encrypted `ConnectState` is bound to: its session, its method, the name of its tool, resource or
 * prompt, and its arguments.
 */
export interface BoundCall {
  session: McpSession;
  method: 'tools/call' | 'resources/read' | 'prompts/get';
  name: string;
  input: unknown;
}

/**
 * Encrypts the state that a client returns when it repeats a call whose user had to open a link (MCP revision
 * 2026-07-28, multi round-trip requests). It expires, and it can be decrypted only for the call that it was created for
 * (threat M4). The state only records which link was offered. The account alone determines whether the call may run, so
 * a client that uses the state twice gains nothing.
 */
export function sealConnectState(sealed: SealedTokens, call: BoundCall, state: ConnectState): string {
  return sealed.seal(PURPOSE, bound(call), JSON.stringify(state), state.expiresAt);
}

/** @returns null if the state was altered, has expired or belongs to another call */
export function openConnectState(sealed: SealedTokens, call: BoundCall, text: string): ConnectState | null {
  const opened = sealed.open(PURPOSE, bound(call), text);
  return opened === null ? null : (JSON.parse(opened) as ConnectState);
}

function bound({ session, method, name, input }: BoundCall): string[] {
  const digest = createHash('sha256')
    .update(JSON.stringify(input ?? {}))
    .digest('base64url');
  return [ownerOf(session), method, name, digest];
}
