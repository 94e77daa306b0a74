import { MCP_SERVER } from '../budgets.ts';
import { isRecord } from '../tools/pointer.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** What a client said in its handshake, as far as a server needs it again. */
export interface Handshake {
  protocolVersion: string;
  capabilities: Record<string, object>;
}

const PURPOSE = 'MCP handshake session';

/** The capabilities that servers ask clients about, with their options. Others would only make the id longer. */
const CAPABILITIES: Record<string, readonly string[]> = {
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
  elicitation: ['form', 'url'],
};
const VERSION = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Makes the id of a session of the revision 2025-11-25. The id is the session: sealed, dated and bound to its owner, it carries
 * what the handshake said, so that a session survives a restart and works on every process of a deployment (threat M4).
 *
 * @param owner who may use the session; see `ownerOf`
 * @param params of the `initialize` request
 * @param now milliseconds UTC
 * @returns base64url, below 500 characters
 */
export function sealSessionId(sealed: SealedTokens, owner: string, params: unknown, now: number): string {
  return sealed.seal(PURPOSE, [owner], JSON.stringify(readHandshake(params)), now + MCP_SERVER.sessionMs);
}

/** @returns null for an id that is altered, expired, or of another owner */
export function openSessionId(sealed: SealedTokens, owner: string, id: string): Handshake | null {
  const text = sealed.open(PURPOSE, [owner], id);
  return text === null ? null : (JSON.parse(text) as Handshake);
}

function readHandshake(params: unknown): Handshake {
  const { protocolVersion, capabilities } = isRecord(params) ? params : {};
  const declared = isRecord(capabilities) ? capabilities : {};
  return {
    // A server responds to an unknown version with its own; any other text stands for an unknown version.
    protocolVersion: VERSION.test(String(protocolVersion)) ? String(protocolVersion) : '',
    capabilities: Object.fromEntries(
      Object.entries(CAPABILITIES).flatMap(([name, options]) => {
        const given = declared[name];
        return isRecord(given) ? [[name, optionsOf(given, options)]] : [];
      }),
    ),
  };
}

function optionsOf(given: Record<string, unknown>, options: readonly string[]): object {
  const set = options.filter((option) => given[option] === true || isRecord(given[option]));
  return Object.fromEntries(set.map((option) => [option, given[option] === true ? true : {}]));
}
