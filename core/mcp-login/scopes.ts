/** What a client of an MCP server can be given. `tools:call` includes `tools:read`. */
export const MCP_SCOPES = ['tools:read', 'tools:call'] as const;

export type McpScope = (typeof MCP_SCOPES)[number];

/** A client asks for a refresh token with it (OpenID Connect Core §11). It grants nothing, so it is not part of grants and challenges. */
export const OFFLINE_ACCESS = 'offline_access';

/**
 * Reads a scope parameter (RFC 6749 §3.3). Scopes that do not exist here are ignored, because clients send those of other servers. A
 * request without any of ours asks for all: a client that got less would have to ask its user again at the first call.
 */
export function readMcpScopes(text: string | undefined): McpScope[] {
  const asked = new Set(text?.split(' '));
  if (asked.has('tools:call')) return [...MCP_SCOPES];
  return asked.has('tools:read') ? ['tools:read'] : [...MCP_SCOPES];
}

/** Whether a grant of some scopes allows a method of the protocol. */
export function allowsMethod(scopes: readonly string[], method: unknown): boolean {
  return method !== 'tools/call' || scopes.includes('tools:call');
}

/** The scopes of a challenge: all that the tools of a server can need, because clients ask for exactly these. */
export const CHALLENGED_SCOPES = MCP_SCOPES.join(' ');
