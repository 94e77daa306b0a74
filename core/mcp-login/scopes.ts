/** The scopes of MCP clients. `tools:call` includes `tools:read`. */
export const MCP_SCOPES = ['tools:read', 'tools:call'] as const;

export type McpScope = (typeof MCP_SCOPES)[number];

/**
 * The scope with which clients request a refresh token (OpenID Connect Core §11). It allows nothing, so it is not part
 * of grants and challenges.
 */
export const OFFLINE_ACCESS = 'offline_access';

/**
 * Reads a scope parameter (RFC 6749 §3.3). Unknown scopes are ignored, because clients send scopes of other servers. A
 * request without a known scope gets all scopes, because with `tools:read` alone the client would have to ask its user
 * again before the first call.
 */
export function readMcpScopes(text: string | undefined): McpScope[] {
  const requested = new Set(text?.split(' '));
  if (requested.has('tools:call')) return [...MCP_SCOPES];
  return requested.has('tools:read') ? ['tools:read'] : [...MCP_SCOPES];
}

/** The methods that use accounts of the user. Lists of resources and prompts contain data of an account. */
const CALLS = /^(tools\/call|resources\/.*|prompts\/.*)$/s;

/** Whether a token with these scopes may call a method of MCP. Messages without a method (responses) may be sent. */
export function allowsMethod(scopes: readonly string[], method: unknown): boolean {
  return typeof method !== 'string' || !CALLS.test(method) || scopes.includes('tools:call');
}

/** Whether a token with these scopes may send every message in a body, which is one message or a list. */
export function allowsMessages(scopes: readonly string[], body: unknown): boolean {
  const messages = (Array.isArray(body) ? body : [body]) as ({ method?: unknown } | null | undefined)[];
  return messages.every((message) => allowsMethod(scopes, message?.method));
}

/** The scopes in the WWW-Authenticate header: all scopes, because clients then request exactly the listed scopes. */
export const CHALLENGED_SCOPES = MCP_SCOPES.join(' ');
