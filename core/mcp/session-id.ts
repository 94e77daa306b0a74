import { MCP_SERVER } from '../budgets.ts';
import { isRecord } from '../tools/pointer.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** The data of a client's handshake that the server needs in later requests. */
export interface Handshake {
  protocolVersion: string;
  capabilities: Record<string, object>;
}

const PURPOSE = 'MCP handshake session';

/** The client capabilities that the session id contains, with their options. Others would only make the id longer. */
const CAPABILITIES: Record<string, readonly string[]> = {
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
  elicitation: ['form', 'url'],
};
const VERSION = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Creates the id of a session of the revision 2025-11-25. The id contains the data of the handshake, encrypted and
 * bound to its owner, with an expiry. So a session survives a restart and works on every process of a deployment
 * (threat M4).
 *
 * @param owner who may use the session; see `ownerOf`
 * @param params of the `initialize` request
 * @param now milliseconds UTC
 * @returns base64url, below 500 characters
 */
export function sealSessionId(sealed: SealedTokens, owner: string, params: unknown, now: number): string {
  return sealed.seal(PURPOSE, [owner], JSON.stringify(readHandshake(params)), now + MCP_SERVER.sessionMs);
}

/** @returns null if the id was altered, has expired, or belongs to another owner */
export function openSessionId(sealed: Pick<SealedTokens, 'open'>, owner: string, id: string): Handshake | null {
  const text = sealed.open(PURPOSE, [owner], id);
  return text === null ? null : (JSON.parse(text) as Handshake);
}

function readHandshake(params: unknown): Handshake {
  const { protocolVersion, capabilities } = isRecord(params) ? params : {};
  const declared = isRecord(capabilities) ? capabilities : {};
  return {
    // An invalid version is stored as an empty text. The server treats it like any unknown version, and responds with
    // its own version.
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
